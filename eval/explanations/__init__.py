"""Accuracy of explanations: `python -m eval.explanations`."""
