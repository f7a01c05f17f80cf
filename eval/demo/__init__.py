"""The demo: `python -m eval.demo`."""
