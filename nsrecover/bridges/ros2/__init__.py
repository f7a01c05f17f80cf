"""A session for ROS 2: messages and reports in, requests out; the logic needs no ROS and no network.

`buffer` collects messages and makes observations of them, `core` drives the session, `answers` and `codes` are what it
says, `endpoints` names its topics and its service. The rclpy node is in ros2/nsrecover_ros of the repository, the
message definitions in ros2/nsrecover_interfaces.
"""
