"""Many robots, some of them hostile, use one server at the same time."""
