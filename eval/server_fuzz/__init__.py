"""Requests made from the schema of the server: `python -m eval.server_fuzz`."""
