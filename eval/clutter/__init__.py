"""`python -m eval.clutter`: free places among outlines that boxes hide, on dataset IX."""
