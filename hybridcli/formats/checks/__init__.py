"""Checks of files: what a file is, everything that is wrong with it, what other readers do with it."""
