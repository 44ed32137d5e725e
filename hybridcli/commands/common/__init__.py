"""What several subcommands share: checks of their runs, lists in help texts."""
