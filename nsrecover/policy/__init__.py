"""The decisions of a session: which observations count, when to stop, what a veto leads to, and when a plan is done."""
