"""Scripted policies that know no plan to tell: tasks in words, disturbances, and LeRobot datasets of their episodes."""
