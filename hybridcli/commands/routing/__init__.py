"""What the commands ``oracle``, ``route`` and ``weigh`` share: reading their inputs, writing their results."""
