"""The command line: one subcommand a room, plus report, demo and cite."""
