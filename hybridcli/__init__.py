"""hybridcli: a command-line toolkit on TREC run files for hybrid retrieval."""

__version__ = "0.1.0"
