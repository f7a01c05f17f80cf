"""Measurement: what is noticed while an action runs, and what that saves."""
