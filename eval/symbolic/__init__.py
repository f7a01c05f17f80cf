"""Quality of the repair of symbolic plans: `python -m eval.symbolic`."""
