"""Readers of published corpora: a folder in, a `prefgraph.PreferenceDataset` out, one module a format.

The files themselves are not part of this package; each reader says which ones it needs and where they are published.
``iter_...`` go through the documents of a corpus one at a time.
"""

from prefgraph.readers._rcv1 import rcv1
from prefgraph.readers._rcv1_files import RCV1Document, iter_rcv1_tokens
from prefgraph.readers._reuters21578 import reuters21578
from prefgraph.readers._reuters21578_sgml import ReutersDocument, iter_reuters21578

__all__ = [
    "RCV1Document",
    "ReutersDocument",
    "iter_rcv1_tokens",
    "iter_reuters21578",
    "rcv1",
    "reuters21578",
]
