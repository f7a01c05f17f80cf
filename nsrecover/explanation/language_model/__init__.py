"""Explanations reworded by a language model and verified against the facts."""
