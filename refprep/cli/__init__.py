"""The command line: one file a subcommand; only ``console`` uses rich."""
