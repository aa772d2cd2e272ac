"""Learners: scikit-learn estimators that take preference graphs as targets."""

from learners import codes, losses
from learners._base import RankerMixin
from learners.kesler import kesler
from learners.loglinear import LogLinearRanker
from learners.plm import PreferenceModel
from learners.scoring import scorer

__all__ = ["LogLinearRanker", "PreferenceModel", "RankerMixin", "codes", "kesler", "losses", "scorer"]
