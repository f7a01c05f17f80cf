"""Accuracy of explained logs: `python -m eval.logs`."""
