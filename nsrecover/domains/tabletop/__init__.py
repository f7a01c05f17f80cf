"""Boxes on a table."""
