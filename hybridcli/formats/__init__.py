"""One file format a module: readers and writers, nothing else."""
