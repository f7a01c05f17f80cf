"""Answers to questions about an episode: summaries, counterfactuals, what if."""
