"""The command line: commands parse and print, everything else is called."""
