"""Load test of the server: `python -m eval.server_load`."""
