"""Aligning runs, normalising scores, fusing and weighting them: functions on arrays."""
