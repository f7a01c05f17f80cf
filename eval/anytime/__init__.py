"""`python -m eval.anytime`: what a recovery costs by the time that its planning may take."""
