"""The ROS 2 node on rclpy and Fast DDS; `make ros` builds what it needs and runs these tests."""
