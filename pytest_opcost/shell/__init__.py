"""`opcost`, the same rooms without pytest: one file a subcommand, none of which decides anything by itself."""
