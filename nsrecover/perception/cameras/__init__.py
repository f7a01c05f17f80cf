"""Cameras: whether their images can be used, and whether they move."""
