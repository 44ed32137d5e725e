"""One subcommand a module: read, call the core once, write."""
