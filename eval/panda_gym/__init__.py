"""Detection in panda-gym from boxes alone: `python -m eval.panda_gym`."""
