"""Whether explanations are true: `python -m eval.explanations`."""
