"""The page of a stress test."""
