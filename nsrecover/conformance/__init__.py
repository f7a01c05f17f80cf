"""The rules that a world has to keep; `nsrecover.testing.check_world` asks all of them."""
