"""ROS 2 bags (MCAP and SQLite) as recorded runs, without ROS."""

BASE_FRAME = "base_link"
"""Frame of the robot's base, if no other is named."""
