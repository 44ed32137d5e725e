"""What ``map-labels`` does between its options and its output."""
