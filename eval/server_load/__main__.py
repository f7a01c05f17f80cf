"""`python -m eval.server_load`: many robots send observations to one server at the same time."""

from eval.common.command import run
from eval.server_load.command import ServerLoadConfig, measure

if __name__ == "__main__":
    run("server_load", ServerLoadConfig, measure)
