"""Logs of a household robot in volume, from plans alone: tasks, failures, a household, imperfect observers."""
