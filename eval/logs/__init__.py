"""Logs of other robots: `python -m eval.logs`."""
