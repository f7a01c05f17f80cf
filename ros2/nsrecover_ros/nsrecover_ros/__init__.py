"""The rclpy node of nsrecover."""
