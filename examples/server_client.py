"""A client of `nsrecover serve`: start the server, do what it asks for, and print what it says.

    pip install 'nsrecover[learned,server]'
    python server_client.py

The client, `nsrecover.serving.client`, is one file that needs only NumPy; docs/server.md shows the same with curl.
"""

from __future__ import annotations

import re
import subprocess
import sys

from nsrecover.records import recording
from nsrecover.serving.client import Client

server = subprocess.Popen(
    [sys.executable, "-m", "nsrecover.cli.app", "serve", "--port", "0"], stdout=subprocess.PIPE, text=True
)
try:
    # The server prints its address once it answers.
    ready = re.search(r"http://\S+", server.stdout.readline())
    if ready is None:
        raise SystemExit("the server did not start")

    episode = recording.example("collapse")  # replaces a robot and its cameras
    seen = iter(episode.observations)
    client = Client([str(action) for action in episode.plan], ready[0], budget_s=2)
    answer = client.observe(next(seen))
    while answer["request"]["code"] in ("act", "look") and not any(turn["recovery"] for turn in answer["turns"]):
        request = answer["request"]
        if request["code"] == "act":
            print(f"{request['action']['operator']}({', '.join(request['action']['arguments'])})")
            last = next(seen)  # robot.execute(action) would be here
        answer = client.observe(last)  # after a request to look, the same scene again
    for turn in answer["turns"]:
        for deviation in turn["discrepancy"]["deviations"]:
            print(f"  {deviation['name']}: {deviation['cause']}")
        print(f"  {turn['explanation']['text']}")
    way = [f"{step['operator']}({', '.join(step['arguments'])})" for step in answer["plan"]]
    print(f"the plan is now: {'; '.join(way)}")
    answer = client.stop("the recording has no more observations")
    print(f"{answer['request']['code']}: {answer['request']['reason']}")
    improvements = sum(kind == "improvement" for kind, _ in client.events(wait_s=0.1))
    print(f"the search told of {improvements} recoveries, each better than the last")
    client.close()
finally:
    server.terminate()
    server.wait()
