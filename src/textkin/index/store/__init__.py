"""Storage of an index on disk: catalog, segments, snapshots, writer, attached models."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.index.store._attached_models import (
        AttachedModels as AttachedModels,
        InputType as InputType,
        LoadedModel as LoadedModel,
    )
    from textkin.index.store._bag_blocks import BagBlock as BagBlock, bag_blocks as bag_blocks
    from textkin.index.store._catalog import (
        CATALOG as CATALOG,
        SegmentRecord as SegmentRecord,
        State as State,
        words_checksum as words_checksum,
    )
    from textkin.index.store._embeddings import as_array as as_array
    from textkin.index.store._ingest import (
        Changes as Changes,
        delete as delete,
        documents_in as documents_in,
        ingest as ingest,
        items_to_add as items_to_add,
    )
    from textkin.index.store._model_folders import MODELS as MODELS
    from textkin.index.store._model_records import (
        ModelRecord as ModelRecord,
        RANKING_NAMES as RANKING_NAMES,
    )
    from textkin.index.store._schema import (
        DOCUMENT_COLUMNS as DOCUMENT_COLUMNS,
        FORMAT as FORMAT,
        is_text as is_text,
    )
    from textkin.index.store._segment import (
        Segment as Segment,
        SegmentDamage as SegmentDamage,
        map_segment as map_segment,
    )
    from textkin.index.store._session import (
        Session as Session,
        TIMEOUT as TIMEOUT,
        create_index as create_index,
    )
    from textkin.index.store._settings import (
        AnalyzerSettings as AnalyzerSettings,
        ENGLISH as ENGLISH,
        NormalizerLike as NormalizerLike,
        VectorSet as VectorSet,
        analyzer_settings as analyzer_settings,
        stem_analyzer as stem_analyzer,
        stop_words_setting as stop_words_setting,
    )
    from textkin.index.store._snapshot import (
        Part as Part,
        SEGMENTS as SEGMENTS,
        Snapshot as Snapshot,
        find_words as find_words,
        unpack_words as unpack_words,
    )
    from textkin.index.store._term_map import (
        StemAnalyzer as StemAnalyzer,
        TermMap as TermMap,
        TermStatistics as TermStatistics,
    )
    from textkin.index.store._text_fields import (
        TextFields as TextFields,
        TextWeights as TextWeights,
        text_fields_of as text_fields_of,
    )
    from textkin.index.store._vector_files import (
        EMBEDDINGS as EMBEDDINGS,
        VectorBlock as VectorBlock,
        row_lengths as row_lengths,
    )
    from textkin.index.store._vector_store import (
        KnownRows as KnownRows,
        StoredVectors as StoredVectors,
    )
    from textkin.index.store._verify import verify as verify
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_attached_models": ["AttachedModels", "InputType", "LoadedModel"],
            "_bag_blocks": ["BagBlock", "bag_blocks"],
            "_catalog": [
                "CATALOG",
                "SegmentRecord",
                "State",
                "words_checksum",
            ],
            "_embeddings": ["as_array"],
            "_session": ["Session", "TIMEOUT", "create_index"],
            "_ingest": ["Changes", "delete", "documents_in", "ingest", "items_to_add"],
            "_model_folders": ["MODELS"],
            "_model_records": ["ModelRecord", "RANKING_NAMES"],
            "_schema": [
                "DOCUMENT_COLUMNS",
                "FORMAT",
                "is_text",
            ],
            "_segment": ["Segment", "SegmentDamage", "map_segment"],
            "_settings": [
                "ENGLISH",
                "NormalizerLike",
                "AnalyzerSettings",
                "VectorSet",
                "stop_words_setting",
                "analyzer_settings",
                "stem_analyzer",
            ],
            "_snapshot": ["Part", "SEGMENTS", "Snapshot", "find_words", "unpack_words"],
            "_term_map": ["StemAnalyzer", "TermMap", "TermStatistics"],
            "_text_fields": ["TextFields", "TextWeights", "text_fields_of"],
            "_vector_store": ["KnownRows", "StoredVectors"],
            "_vector_files": ["EMBEDDINGS", "VectorBlock", "row_lengths"],
            "_verify": ["verify"],
        },
    )

__all__ = ["Changes"]
