"""Length and time of recovery plans: `python -m eval.planning`."""
