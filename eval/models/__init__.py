"""Accuracy of perception, imagination and detection: `python -m eval.models`."""
