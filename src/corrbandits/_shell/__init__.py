"""What touches files and terminals: CSV and TOML in, results out, tables and progress on the screen."""
