"""From recorded runs to a monitor of one's own robot: project template, setup checks, calibration, reports."""
