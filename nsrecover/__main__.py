"""`python -m nsrecover`: the command line."""

from nsrecover.cli import main

if __name__ == "__main__":
    main()
