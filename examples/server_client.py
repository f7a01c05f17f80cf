"""A client of `nsrecover serve`: start the server, send observations, and print its answers.

    pip install 'nsrecover[learned,server]'
    python server_client.py

The client, `nsrecover.integrations.client`, is one file that needs only NumPy; docs/server.md shows the same with curl.
"""

from __future__ import annotations

import re
import subprocess
import sys

from nsrecover.integrations.client import Client
from nsrecover.records import recording

server = subprocess.Popen(
    [sys.executable, "-m", "nsrecover.cli", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
)
try:
    # The server prints its address once it answers.
    ready = re.search(r"http://\S+", server.stdout.readline())
    if ready is None:
        raise SystemExit("the server did not start")

    episode = recording.example("collapse")  # replaces a robot and its cameras
    client = Client([str(action) for action in episode.plan], ready[0])
    client.observe(episode.observations[0])
    for action, observation in zip(episode.plan, episode.observations[1:], strict=True):
        # robot.execute(action) would be here
        verdict = client.observe(observation, "?budget_s=2")
        print(f"{action}: {'as expected' if verdict['as_expected'] else 'NOT as expected'}")
        if verdict["discrepancy"]:
            for culprit in verdict["discrepancy"]["culprits"]:
                print(f"  {culprit['name']}: {culprit['cause']}")
            print(f"  {verdict['explanation']['text']}")
            state = client.call("POST", "/recovery/follow")
            way = [f"{step['operator']}({', '.join(step['arguments'])})" for step in state["plan"]]
            print(f"  the plan is now: {'; '.join(way)}")
    improvements = sum(kind == "improvement" for kind, _ in client.events(wait_s=0.1))
    print(f"the search told of {improvements} recoveries, each better than the last")
    client.close()
finally:
    server.terminate()
    server.wait()
