"""The conformance kit: checks that a simulator or a robot behaves as nsrecover expects of a world."""
