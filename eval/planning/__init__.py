"""How good and how fast recovery planning is: `python -m eval.planning`."""
