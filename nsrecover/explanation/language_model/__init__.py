"""Explanations in the words of a language model, verified against the facts."""
