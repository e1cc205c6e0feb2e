"""A page in one file: HTML that holds everything it shows, and figures as plain data for plotly's script."""
