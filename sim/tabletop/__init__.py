"""Boxes on a table and a Franka Panda: scenes, skills, faults and demonstrations."""
