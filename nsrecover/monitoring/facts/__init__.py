"""Scenes of facts: beliefs, causes, the outlook of plans, and their monitor."""
