"""Whether proposed places are free: `python -m eval.free_space`."""
