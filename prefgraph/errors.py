"""Every error that prefgraph raises on purpose.

    PrefGraphError
    ├── InvalidGraph (ValueError)           a self-loop, a two-way pair, a weight that is not finite and positive
    │   └── Contradiction                   pairs that say a > b and b > a, where the caller asked for an error
    ├── InvalidLabel (TypeError)            a label that cannot be keyed or saved (str or int only), or is none at all
    ├── InvalidHierarchy (ValueError)       a cycle, an unknown parent, several roots
    ├── InvalidDecomposition (ValueError)   an unknown name, a part with an edge that the graph has not
    ├── InvalidTarget (ValueError)          y that cannot be read as preferences without being told how
    ├── InvalidScores (ValueError)          NaN, or a shape that does not fit the preferences
    ├── InvalidDataset (ValueError)         parts of a data set that do not fit together
    ├── InvalidFile (ValueError)            a file that breaks its format: names the file, the line, the document
    ├── InvalidNotation (ValueError)        text that is neither bracket notation nor an edge list
    ├── InvalidOption (ValueError)          a word outside the listed ones
    ├── TooLarge (ValueError)               an exact answer asked for past the stated limit
    └── MissingDependency (ImportError)     an optional package, named with the extra that installs it

A message gives the value, the rule and the way out, in this order.
"""

from collections.abc import Iterable

__all__ = [
    "Contradiction",
    "InvalidDataset",
    "InvalidDecomposition",
    "InvalidFile",
    "InvalidGraph",
    "InvalidHierarchy",
    "InvalidLabel",
    "InvalidNotation",
    "InvalidOption",
    "InvalidScores",
    "InvalidTarget",
    "MissingDependency",
    "PrefGraphError",
    "TooLarge",
]


class PrefGraphError(Exception):
    """Base class: ``except PrefGraphError`` catches all that prefgraph raises on purpose."""


class InvalidGraph(PrefGraphError, ValueError):
    """The rule of a preference graph is broken: no self-loop, one direction a pair, weights finite and positive."""


class Contradiction(InvalidGraph):
    """Two statements about one pair of labels point both ways."""


class InvalidLabel(PrefGraphError, TypeError):
    """A label that cannot be used as asked: labels are hashable, and str or int where they are keyed or saved."""


class InvalidHierarchy(PrefGraphError, ValueError):
    """A label hierarchy with a cycle, an unknown parent or a root too many."""


class InvalidDecomposition(PrefGraphError, ValueError):
    """An unknown decomposition, or one that returns what is not part of the graph."""


class InvalidTarget(PrefGraphError, ValueError):
    """A training target that cannot be read as preferences."""


class InvalidScores(PrefGraphError, ValueError):
    """Scores that do not fit the preferences: NaN, infinite, or of the wrong shape."""


class InvalidDataset(PrefGraphError, ValueError):
    """Columns of a data set that do not fit together."""


class InvalidFile(PrefGraphError, ValueError):
    """A file that breaks its format; the message names file, line and document where they are known."""


class InvalidNotation(PrefGraphError, ValueError):
    """Text that is neither bracket notation such as ``[1,2|3]`` nor an edge list such as ``1>2, 2>3``."""


class InvalidOption(PrefGraphError, ValueError):
    """A word that is not among those a parameter takes."""


class TooLarge(PrefGraphError, ValueError):
    """An exact answer was asked for past the size for which it is promised."""


class MissingDependency(PrefGraphError, ImportError):
    """An optional package is not installed."""


def check_option(name: str, value: object, options: Iterable[str]) -> None:
    """Raise `InvalidOption` unless ``value`` is one of the words in ``options``."""
    words = list(options)
    if value not in words:
        raise InvalidOption(f"{name}={value!r} is not one of {', '.join(map(repr, words))}; choose one of these")
