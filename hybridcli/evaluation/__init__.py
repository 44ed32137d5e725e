"""Measures, averages and inference: functions on arrays."""
