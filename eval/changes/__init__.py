"""`python -m eval.changes`: changes that place alone does not show, on dataset VIII."""
