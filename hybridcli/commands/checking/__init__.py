"""The parts of ``check``: reading files, comparing pairs of them, writing clean ones."""
