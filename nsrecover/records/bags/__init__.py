"""ROS 2 bags (MCAP and SQLite) as recorded runs, without ROS."""
