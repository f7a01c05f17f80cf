"""Names of the files that a measurement leaves in its folder."""

METRICS, TABLE, CONFIG = "metrics.json", "table.md", "config.yaml"
"""Numbers, the table that it prints at the end, its resolved config."""
