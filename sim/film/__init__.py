"""Films with sound and picture pages of episodes in the kitchen."""
