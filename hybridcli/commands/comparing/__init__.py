"""Parts of ``compare``: reading what is evaluated, and the sections that need more files."""
