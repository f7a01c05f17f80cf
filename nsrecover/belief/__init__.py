"""What is believed of a scene and of a robot, and how sure that is."""
