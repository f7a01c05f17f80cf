from .kit import check_world as check_world
from .kit import load_factory as load_factory
from .rules import Check as Check
from .rules import Limits as Limits
from .rules import Report as Report
from .rules import Rule as Rule
from .rules import Status as Status
