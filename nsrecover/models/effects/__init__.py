"""Effects of operators that are learned from demonstrations: where the moved object goes. Needs NumPy only."""
