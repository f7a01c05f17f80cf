"""`python -m eval.real`: public sets of real RGB-D frames."""
