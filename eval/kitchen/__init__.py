"""Whole household episodes in the kitchen's physics, seen and heard: `python -m eval.kitchen`."""
