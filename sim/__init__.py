"""A PyBullet tabletop with a Franka Panda: scenes, arm, cameras, faults. Runs from a checkout, not part of the wheel."""
