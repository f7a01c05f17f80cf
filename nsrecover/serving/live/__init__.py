"""A live page about a running robot: what it sees and expects, what it does, why; people can hold it up and decide.

    import nsrecover.serving.live

    with nsrecover.serving.live.page(agent) as page:
        print(page.url)
        agent.run(plan)

docs/live.md describes the page. It needs the extra `server`: `pip install 'nsrecover[server]'`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from nsrecover.serving.live.injecting import Injector
from nsrecover.serving.server import need_extra

if TYPE_CHECKING:
    from nsrecover.agent import RecoveryAgent
    from nsrecover.serving.live.live_page import LivePage

__all__ = ["Injector", "page"]


@contextmanager
def page(
    agent: RecoveryAgent | None = None,
    *,
    title: str = "nsrecover",
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    paused: bool = False,
    approve: bool = False,
    answer_s: float = 300.0,
    injector: Injector | None = None,
) -> Iterator[LivePage]:
    """Serve a live page while a robot runs.

    The page is the agent's supervisor. Without an agent, give it to one: `RecoveryAgent(..., supervisor=page)`, or to a
    `nsrecover.instructions.ServiceAgent`, whose `operator` may be `page` as well.

    Args:
        agent: the agent that is watched; its runs inside the `with` block are shown.
        title: of the page.
        host: address to listen on. On other addresses than loopback everything travels in plain text; rather use a
            tunnel.
        port: port; 0 for any free one.
        token: what viewers need; a fresh one if None. `page.url` has it.
        paused: whether the first run waits before its first action until a viewer lets it go on.
        approve: whether every recovery waits for a person at first; viewers can switch that.
        answer_s: time after which a question of the robot counts as not answered, seconds.
        injector: makes things go wrong on demand, for simulators.

    Raises:
        InvalidConfiguration: the extra is not installed, the token is too short, or the address is in use.
    """
    need_extra()
    from nsrecover.explanation.language_model.explainer import LanguageExplainer
    from nsrecover.serving.live.live_page import LivePage
    from nsrecover.serving.live.serving import served

    with served(title, host, port, token) as server:
        shown = LivePage(server, paused, approve, answer_s, injector)
        if agent is not None:
            before, agent.supervisor = agent.supervisor, shown
            system = agent.system
            explainer = getattr(system, "explainer", None)
            if isinstance(explainer, LanguageExplainer) and explainer.on_text is None:
                agent.system = replace(cast(Any, system), explainer=replace(explainer, on_text=shown.write))
        try:
            yield shown
        finally:
            shown.close()
            if agent is not None:
                agent.supervisor, agent.system = before, system
