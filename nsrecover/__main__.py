"""`python -m nsrecover`: the command line."""

from nsrecover.cli.app import main

if __name__ == "__main__":
    main()
