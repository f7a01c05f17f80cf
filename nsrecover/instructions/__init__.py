"""Sentences that give a robot a task: reading, grounding in a home, planning, and carrying out with recovery."""
