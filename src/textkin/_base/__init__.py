"""Foundations: types, parameter checks, saved estimators, verified folders."""

from typing import TYPE_CHECKING

from textkin._base._lazy_imports import import_extra as import_extra, lazy_names as lazy_names

if TYPE_CHECKING:
    from textkin._base._atomic_writes import (
        TEMPORARY as TEMPORARY,
        Written as Written,
        file_hash as file_hash,
        new_folder as new_folder,
        own_folder as own_folder,
        sync_folder as sync_folder,
        write_whole as write_whole,
    )
    from textkin._base._bag_estimator import (
        BagEstimator as BagEstimator,
        BagWeighting as BagWeighting,
        BagsLike as BagsLike,
        Norm as Norm,
        as_two_dimensional as as_two_dimensional,
        bag_check as bag_check,
        check_bags as check_bags,
        narrow_indices as narrow_indices,
        normalize_rows as normalize_rows,
        reject_texts as reject_texts,
        replace_values as replace_values,
        row_indices as row_indices,
    )
    from textkin._base._estimator import (
        SavedEstimator as SavedEstimator,
        is_loadable as is_loadable,
        load as load,
        load_estimator as load_estimator,
        rollback_on_error as rollback_on_error,
        takes_texts as takes_texts,
    )
    from textkin._base._folders import (
        Folder as Folder,
        MANIFEST as MANIFEST,
        is_count as is_count,
        read_small as read_small,
    )
    from textkin._base._messages import (
        abbreviate as abbreviate,
        describe_non_text as describe_non_text,
        describe_value as describe_value,
        format_count as format_count,
        hinted as hinted,
        without_hint as without_hint,
    )
    from textkin._base._parameters import (
        Constraint as Constraint,
        DEVICE as DEVICE,
        PROGRESS as PROGRESS,
        check_params as check_params,
        instance_of as instance_of,
        integer as integer,
        one_of as one_of,
        positive as positive,
        real as real,
    )
    from textkin._base._results import DrawnResult as DrawnResult, TableResult as TableResult
    from textkin._base._sparse_output import SparseOutput as SparseOutput
    from textkin._base._system import (
        call_after_fork as call_after_fork,
        file_locks as file_locks,
        open_flags as open_flags,
        read_at as read_at,
        replace_content as replace_content,
        user_id as user_id,
    )
    from textkin._base._types import (
        Bags as Bags,
        BoolArray as BoolArray,
        Float32Array as Float32Array,
        Float64Array as Float64Array,
        HasFeatureNames as HasFeatureNames,
        HasText as HasText,
        Int32Array as Int32Array,
        Int64Array as Int64Array,
        IntpArray as IntpArray,
        Texts as Texts,
        WordLookup as WordLookup,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_atomic_writes": [
                "TEMPORARY",
                "Written",
                "file_hash",
                "new_folder",
                "own_folder",
                "sync_folder",
                "write_whole",
            ],
            "_bag_estimator": [
                "BagWeighting",
                "BagsLike",
                "Norm",
                "BagEstimator",
                "check_bags",
                "narrow_indices",
                "normalize_rows",
                "reject_texts",
                "row_indices",
                "as_two_dimensional",
                "bag_check",
                "replace_values",
            ],
            "_estimator": [
                "SavedEstimator",
                "is_loadable",
                "load",
                "load_estimator",
                "rollback_on_error",
                "takes_texts",
            ],
            "_folders": ["Folder", "MANIFEST", "is_count", "read_small"],
            "_messages": [
                "abbreviate",
                "describe_non_text",
                "describe_value",
                "format_count",
                "hinted",
                "without_hint",
            ],
            "_parameters": [
                "DEVICE",
                "PROGRESS",
                "Constraint",
                "check_params",
                "instance_of",
                "integer",
                "one_of",
                "positive",
                "real",
            ],
            "_results": ["DrawnResult", "TableResult"],
            "_sparse_output": ["SparseOutput"],
            "_system": [
                "call_after_fork",
                "file_locks",
                "open_flags",
                "read_at",
                "replace_content",
                "user_id",
            ],
            "_types": [
                "Bags",
                "BoolArray",
                "Float32Array",
                "Float64Array",
                "HasFeatureNames",
                "HasText",
                "Int32Array",
                "Int64Array",
                "IntpArray",
                "Texts",
                "WordLookup",
            ],
        },
    )

__all__ = []
