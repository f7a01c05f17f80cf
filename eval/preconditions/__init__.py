"""Measurement: whether the monitor says rightly that the preconditions of an action hold."""
