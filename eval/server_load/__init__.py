"""Many robots at one server: `python -m eval.server_load`."""
