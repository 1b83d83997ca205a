"""Factor models: LSI and WTMF, with the back ends of alternating least squares."""

__all__: list[str] = []
