from .agent import RecoveryAgent as RecoveryAgent
from .core.actions import Action as Action
from .core.actions import Plan as Plan
from .core.discrepancy import Cause as Cause
from .core.discrepancy import Deviation as Deviation
from .core.discrepancy import Discrepancy as Discrepancy
from .core.discrepancy import Unseen as Unseen
from .core.discrepancy import Verdict as Verdict
from .core.episode import Episode as Episode
from .core.explanation import Explanation as Explanation
from .core.facts import FactScene as FactScene
from .core.glances import RobotState as RobotState
from .core.observation import Camera as Camera
from .core.observation import Observation as Observation
from .core.protocols import CustomOperator as CustomOperator
from .core.protocols import (
    Explainer as Explainer,
)
from .core.protocols import (
    LanguageModel as LanguageModel,
)
from .core.protocols import (
    Perceiver as Perceiver,
)
from .core.protocols import (
    PlacingOperator as PlacingOperator,
)
from .core.protocols import (
    World as World,
)
from .core.recovery import Recovery as Recovery
from .core.recovery import RecoveryStatus as RecoveryStatus
from .core.scene import SceneGraph as SceneGraph
from .core.sessions.requests import Act as Act
from .core.sessions.requests import Answer as Answer
from .core.sessions.requests import Ask as Ask
from .core.sessions.requests import Done as Done
from .core.sessions.requests import Interrupt as Interrupt
from .core.sessions.requests import Look as Look
from .core.sessions.requests import Stopped as Stopped
from .core.sessions.settings import SessionSettings as SessionSettings
from .core.traces import Trace as Trace
from .domains.tabletop.operators import register as register
from .loading import geometric as geometric
from .loading import load as load
from .loading import symbolic as symbolic
from .monitoring.comparison import Comparison as Comparison
from .monitoring.monitor import Monitor as Monitor
from .perception.objects.boxes import BoxesPerceiver as BoxesPerceiver
from .perception.objects.boxes import scene_of_boxes as scene_of_boxes
from .perception.perceiver import ScenePerceiver as ScenePerceiver
from .planning.planner import RecoveryPlanner as RecoveryPlanner
from .planning.planner import Rejoin as Rejoin
from .planning.subgoals import Subgoals as Subgoals
from .records.recording import Recording as Recording
from .session import Session as Session
from .system import System as System

__version__: str
__all__: list[str]
