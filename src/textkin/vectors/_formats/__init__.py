"""Readers of vector files, one format a module; nothing here is public."""
