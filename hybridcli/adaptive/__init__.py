"""Per-query weights: the oracle, folds, features, routers, re-ranking."""
