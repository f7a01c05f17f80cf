"""Whole episodes in the simulator under a planner, judged by ground truth: `python -m eval`."""
