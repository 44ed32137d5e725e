"""``python -m hybridcli`` runs the command line."""

from hybridcli.cli import run

run()
