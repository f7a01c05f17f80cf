"""Imagination of the expected scenes of a plan, and their comparison with the observed ones."""
