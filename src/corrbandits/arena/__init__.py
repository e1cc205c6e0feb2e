"""Rules and beliefs against each other on many problems."""
