"""Repair of symbolic plans: `python -m eval.symbolic`."""
