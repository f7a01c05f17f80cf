"""Package of the node; nsrecover itself comes from pip."""

from setuptools import setup

NAME = "nsrecover_ros"

setup(
    name=NAME,
    version="0.2.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", ["launch/monitor.launch.py"]),
        (f"share/{NAME}/config", ["config/monitor.yaml"]),
    ],
    install_requires=["setuptools"],
    entry_points={"console_scripts": [f"monitor = {NAME}.monitor_node:main"]},
)
