"""`python -m eval.checks.sensor_checks`: the sensor checks on good and on faulty first observations."""
