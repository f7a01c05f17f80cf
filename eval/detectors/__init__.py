"""Failure detectors side by side on the same filmed episodes: ours, and those it is compared with in the literature."""
