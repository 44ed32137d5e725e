"""Retrieval engines behind one small protocol."""
