"""The command line: one subcommand a quantity, plus report, demo and cite."""
