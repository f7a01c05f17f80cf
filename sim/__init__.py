"""A simulated tabletop (PyBullet) with a Franka Panda: scenes, arm, cameras, faults. It runs from a checkout only."""
