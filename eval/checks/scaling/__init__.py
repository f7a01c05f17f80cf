"""Planning time by number of objects and errors: `python -m eval.checks.scaling`."""
