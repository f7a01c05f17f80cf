"""The smallest displacement that the monitor detects behind each sensor, next to a rule by distance."""
