"""Adapters for other people's planners. Each needs the planner's package, which is an extra of its own."""
