"""How planning time grows: `python -m eval.scaling`."""
