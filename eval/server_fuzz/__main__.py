"""`python -m eval.server_fuzz`: the server is sent what its schema allows, and what it does not; it must not break."""

from eval.common.command import run
from eval.server_fuzz.command import ServerFuzzConfig, measure

if __name__ == "__main__":
    run("server_fuzz", ServerFuzzConfig, measure)
