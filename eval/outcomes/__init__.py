"""`python -m eval.outcomes`: errors noticed where outcomes are distributions, against rules and trees."""
