"""Recovery of symbolic plans: grounded tasks, heuristics and repair."""
