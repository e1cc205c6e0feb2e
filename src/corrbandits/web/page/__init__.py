"""The page for the people who measure: shells rendered here, filled by own scripts from the interface."""
