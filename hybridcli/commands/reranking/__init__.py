"""What ``rerank`` is made of: reading candidates, evaluating what came out, sweeps."""
