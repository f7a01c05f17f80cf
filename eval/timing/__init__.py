"""What a monitor step costs: `python -m eval.timing`."""
