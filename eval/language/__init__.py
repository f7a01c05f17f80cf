"""Accuracy of explanations worded by a language model: `python -m eval.language`."""
