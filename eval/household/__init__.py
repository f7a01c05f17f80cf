"""Monitoring and recovery of household tasks at the level of facts: `python -m eval.household`."""
