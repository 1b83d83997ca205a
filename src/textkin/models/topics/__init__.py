"""Topic models: PLSA, LDA and counting grids, with the back ends of EM."""

__all__: list[str] = []
