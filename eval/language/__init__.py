"""Explanations worded by a language model: `python -m eval.language`."""
