"""Comparison of failure detectors on the same recorded episodes: `python -m eval.detectors`."""
