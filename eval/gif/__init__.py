"""An animated picture of a film: `python -m eval.gif`."""
