"""What ``fuse`` does between its options and its output."""
