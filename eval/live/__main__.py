"""`python -m eval.live`: the simulated tabletop with its live page, or measurements of the page."""

from eval.live.command import main

if __name__ == "__main__":
    main()
