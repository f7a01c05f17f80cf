"""A PyBullet tabletop with a Franka Panda: scenes, arm, cameras and faults; runs from a checkout only."""
