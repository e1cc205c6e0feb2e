"""The interface, by subject."""
