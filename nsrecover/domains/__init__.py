"""What can be in a scene and what can be done to it."""
