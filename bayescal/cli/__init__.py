"""The command line: a subcommand for each quantity, and others beside them."""
