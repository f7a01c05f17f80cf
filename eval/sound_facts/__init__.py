"""How well the sounds of an episode are told as events with an object and a time."""
