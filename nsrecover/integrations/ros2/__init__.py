"""The monitor for ROS 2: messages in, verdicts and recoveries out; the logic needs no ROS and no network.

`buffer` collects messages and makes observations of them, `core` answers requests, `answers` and `codes` are what it
says, `endpoints` names its topics and services, `interfaces` holds the message definitions. The rclpy node is in
ros2/nsrecover_ros of the repository.
"""
