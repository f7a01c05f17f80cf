"""The reinforcement-learning baseline: `python -m eval.train_sac`."""
