"""Scenes of boxes: imagination, comparison, causes, and their monitor."""
