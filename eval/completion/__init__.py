"""How often an episode ends `completed` although its goal does not hold: `python -m eval.completion`."""
