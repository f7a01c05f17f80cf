"""`python -m eval.sensing`: the monitor behind realistic sensors."""
