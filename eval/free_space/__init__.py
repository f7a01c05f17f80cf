"""Quality of proposed free places: `python -m eval.free_space`."""
