"""Tables from the output of `python -m eval`: `python -m eval.tables`."""
