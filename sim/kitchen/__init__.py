"""The simulated kitchen: doors, drawers, taps, heat, liquids, food, and a mobile arm among them."""
