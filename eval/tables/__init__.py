"""Tables, figures, comparisons and a failure gallery from the output of `python -m eval`: `python -m eval.tables`."""
