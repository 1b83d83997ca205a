# Types of constants that the generator of the stub cannot know.
(_core\.)?VERDICTS$:
    VERDICTS: tuple[str, ...]

(_core\.)?STAGES$:
    STAGES: tuple[str, ...]
