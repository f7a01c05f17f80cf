"""`python -m nsrecover.serving.server > docs/openapi.json`: print the schema of the interface."""

import json

from nsrecover.loading import geometric
from nsrecover.serving.server import create_app
from nsrecover.serving.server.app import schema_of


def schema_text() -> str:
    """Return the schema as it is committed."""
    return json.dumps(schema_of(create_app({"": geometric()})), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
