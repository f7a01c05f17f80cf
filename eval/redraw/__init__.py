"""Figures of the committed results."""
