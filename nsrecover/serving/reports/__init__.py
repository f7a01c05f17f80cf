"""Reports of episodes: one HTML file about what happened, why, and what was done about it."""
