"""How well the learned parts see, imagine and notice: `python -m eval.models`."""
