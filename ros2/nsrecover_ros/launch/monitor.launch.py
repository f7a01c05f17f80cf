"""The monitor, configured and activated at once: ros2 launch nsrecover_ros monitor.launch.py params:=my.yaml."""

import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition


def generate_launch_description() -> LaunchDescription:
    """Return the description."""
    default = os.path.join(get_package_share_directory("nsrecover_ros"), "config", "monitor.yaml")
    node = LifecycleNode(
        package="nsrecover_ros", executable="monitor", name="nsrecover_monitor", namespace="", output="screen",
        parameters=[LaunchConfiguration("params")],
    )  # fmt: skip

    def change(transition: int) -> EmitEvent:
        return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))

    activate = OnStateTransition(
        target_lifecycle_node=node, goal_state="inactive", entities=[change(Transition.TRANSITION_ACTIVATE)]
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument("params", default_value=default, description="File of parameters."),
            RegisterEventHandler(activate),
            node,
            change(Transition.TRANSITION_CONFIGURE),
        ]
    )
