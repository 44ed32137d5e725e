"""What several subcommands check about their runs."""
