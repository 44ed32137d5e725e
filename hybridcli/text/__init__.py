"""Text work: filings to units, units to windows, references to spans."""
