"""Recovery planning: search, the learned world model it plans over, and the planner that joins them."""
