"""Animated GIF of a video: `python -m eval.gif`."""
