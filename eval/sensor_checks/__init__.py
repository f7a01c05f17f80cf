"""`python -m eval.sensor_checks`: the sensor checks on good and on faulty first observations."""
