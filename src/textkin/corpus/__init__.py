"""Documents over a table of vectors: texts, tokens, or bags become rows."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.corpus._reader import Document as Document, is_bag as is_bag
    from textkin.corpus._rows import (
        Coverage as Coverage,
        DocumentRows as DocumentRows,
        MaskArray as MaskArray,
        RankedRows as RankedRows,
        listed as listed,
        shares as shares,
    )
    from textkin.corpus._token_documents import (
        TokenDocument as TokenDocument,
        TokenDocuments as TokenDocuments,
        TokenStack as TokenStack,
        TokenVectors as TokenVectors,
        many_documents as many_documents,
        one_document as one_document,
        refuse_empty as refuse_empty,
        stack_tokens as stack_tokens,
        totals_of as totals_of,
    )
    from textkin.corpus._vector_estimator import (
        Documents as Documents,
        Vectors as Vectors,
        WORD_VECTOR_PARAMETERS as WORD_VECTOR_PARAMETERS,
        WordVectorEstimator as WordVectorEstimator,
        same_parameters as same_parameters,
    )
    from textkin.corpus._vector_table import VectorTable as VectorTable
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_reader": ["Document", "is_bag"],
            "_rows": ["Coverage", "DocumentRows", "MaskArray", "RankedRows", "listed", "shares"],
            "_token_documents": [
                "TokenDocument",
                "TokenDocuments",
                "TokenStack",
                "TokenVectors",
                "many_documents",
                "one_document",
                "refuse_empty",
                "stack_tokens",
                "totals_of",
            ],
            "_vector_estimator": [
                "Documents",
                "Vectors",
                "WORD_VECTOR_PARAMETERS",
                "WordVectorEstimator",
                "same_parameters",
            ],
            "_vector_table": ["VectorTable"],
        },
    )

__all__ = ["Coverage", "TokenVectors"]
