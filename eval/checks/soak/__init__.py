"""A thousand episodes with faults of every kind, each of which has to end well: `python -m eval.checks.soak`."""
