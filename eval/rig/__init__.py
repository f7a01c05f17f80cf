"""What training on own runs gains on a rig that the shipped checkpoint does not know."""
