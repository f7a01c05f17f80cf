"""`python -m eval.server_fuzz`: send the server valid and invalid requests, generated from its schema."""

from eval.common.command import run
from eval.server_fuzz.command import ServerFuzzConfig, measure

if __name__ == "__main__":
    run("server_fuzz", ServerFuzzConfig, measure)
