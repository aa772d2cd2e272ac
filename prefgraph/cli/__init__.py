"""The command line: the only part of prefgraph that may import ``learners`` and ``storage``."""
