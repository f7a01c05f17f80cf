"""What the robot can do in a kitchen; every skill is a motion that succeeds or fails in the physics."""
