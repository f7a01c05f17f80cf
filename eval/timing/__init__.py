"""Time of a monitor step: `python -m eval.timing`."""
