"""Topic models: PLSA, LDA, and counting grids."""

__all__: list[str] = []
