"""A home without contact physics: thousands of episodes of a service robot, with skills that can fail and people."""
