"""Tries files of other people: bags, PDDL and masks."""
