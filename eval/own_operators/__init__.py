"""`python -m eval.own_operators`: operators that are learned from demonstrations, on dataset VII."""
