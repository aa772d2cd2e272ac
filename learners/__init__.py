"""Learners: scikit-learn estimators that take preference graphs as targets."""

__all__: list[str] = []
