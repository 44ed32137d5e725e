"""What a person reads: tables, plots, pages."""
