"""Measurement: which episodes of a policy without a plan failed, at which subtask and with which object."""
