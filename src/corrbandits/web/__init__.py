"""Studies over HTTP: the service, its client, and the page for the people who measure."""
