"""Imagining what a plan leads to, and comparing it with what is seen."""
