"""Fuzz tests of everything that reads what others wrote: `python -m eval.checks.fuzz`."""
