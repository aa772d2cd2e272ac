"""Storage: preference graphs and data sets kept in a graph database."""

__all__: list[str] = []
