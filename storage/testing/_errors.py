"""The one error of this package."""


class ServerUnavailable(RuntimeError):
    """A Neo4j server cannot be fetched, started or kept running; the message says what to do about it."""
