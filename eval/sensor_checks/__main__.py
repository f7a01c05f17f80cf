"""`python -m eval.sensor_checks`: the sensor checks on good and on faulty first observations."""

from eval.common.command import run
from eval.sensor_checks.command import SensorChecksConfig, measure

if __name__ == "__main__":
    run("sensor_checks", SensorChecksConfig, measure)
