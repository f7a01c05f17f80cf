"""Reports measured and photographed: `python -m eval.reports`."""
