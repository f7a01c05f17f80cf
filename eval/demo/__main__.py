"""`python -m eval.demo`: run the scenarios, watch the robot notice, explain and recover, judge it, and report."""

from eval.demo.command import main

if __name__ == "__main__":
    main()
