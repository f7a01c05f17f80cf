"""The live page of the simulated tabletop, watched and measured: `python -m eval.checks.live`."""
