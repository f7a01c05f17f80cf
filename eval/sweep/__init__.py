"""Whole episodes in the simulator: planners at work while things go wrong, judged by ground truth.

`stage` is the world as a planner sees it, `ideal` an unerring hand to compare with, `controllers` and `oracle` are the
planners, `records` what is kept of an episode, `failures` why it failed, `metrics` the numbers of the tables, and `run`
the sweep over many episodes.
"""
