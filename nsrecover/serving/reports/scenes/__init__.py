"""Scenes in a report: drawings and tables."""
