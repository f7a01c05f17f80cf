"""`python -m eval.shapes`: objects of other shapes, at any yaw."""
