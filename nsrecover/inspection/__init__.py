"""Episodes of policies without a plan: their subtasks, learned from successes, and what went wrong in the others."""
