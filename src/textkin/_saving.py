"""Fitted estimators in folders: a manifest that says what they are, and their arrays.

The manifest holds the class, its parameters and its fitted attributes as JSON; every array among
them is a tensor of ``arrays.safetensors``, which the manifest gives the size and hash of. Nothing
is unpickled, only classes of textkin are made, and only attributes that a fit leaves (their names
end in an underscore) are set. Word vectors that an estimator was given are kept with it.
"""

import math
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

import textkin
from textkin._folders import MANIFEST, Folder, is_count
from textkin._validation import check_params

__all__ = ["SavedEstimator", "load_estimator", "whole_or_not_at_all"]

_ARRAYS = "arrays.safetensors"
_KINDS = "?", "i4", "i8", "u1", "f4", "f8"
_LONG = 100  # a longer list of numbers or strings is an array, since manifests are kept small
_DEEPEST = 6  # estimators in lists in estimators; a stranger's file may nest without end


class SavedEstimator:
    """Gives an estimator over numbers `save` and `load`; for scikit-learn's `BaseEstimator`.

    Parameters and fitted attributes may be None, booleans, numbers, strings, arrays of numbers,
    arrays of strings, sparse CSR arrays, lists and tuples of these, other such estimators, and
    values that tell their parts (`_saved_parts`) and are made of them (`_of_saved_parts`), as word
    vectors are. A class whose core code would trust its arrays overrides `_check_loaded`.

    A `fit` that fails, or is interrupted, leaves the estimator as it was before.
    """

    _saved_classes: ClassVar[dict[str, type["SavedEstimator"]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:  # noqa: ANN401 (scikit-learn's own)
        super().__init_subclass__(**keywords)
        if cls.__module__.split(".")[0] == "textkin":
            SavedEstimator._saved_classes[cls.__name__] = cls
        if "fit" in vars(cls):
            setattr(cls, "fit", whole_or_not_at_all(vars(cls)["fit"]))  # noqa: B010

    def save(self, path: str | Path) -> None:
        """Save the fitted estimator to a new folder.

        Parameters
        ----------
        path : str or Path
            The folder to make; parents are made too. One that exists already must be empty.

        Raises
        ------
        FileExistsError
            If there is something at the path.
        TypeError
            If a parameter cannot be saved, such as a generator of random numbers.
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(self)
        tensors: dict[str, NDArray[Any]] = {}
        described = _encode(self, type(self).__name__, "", tensors)

        def fill(folder: Path) -> Iterable[str]:
            save_file(tensors, folder / _ARRAYS)
            return (_ARRAYS,)

        _folder(Path(path)).write(described, fill)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load an estimator that `save` wrote; its arrays are memory-mapped and read-only.

        Parameters
        ----------
        path : str or Path
            The folder. It may come from a stranger: nothing in it is run, and sizes, hashes,
            parameters and shapes are checked.

        Returns
        -------
        estimator
            Fitted, as it was saved.

        Raises
        ------
        FileNotFoundError
            If there is no such folder.
        ValueError
            If the folder holds something else, or is damaged.
        """
        loaded: Self = _load(Path(path), cls)
        return loaded

    @property
    def _takes_texts(self) -> bool:
        """Whether documents are given to it as texts (or lists of tokens), not as bags."""
        return False

    def _check_loaded(self) -> None:
        """Raise `ValueError` where fitted attributes do not fit together."""


def load_estimator(path: str | Path) -> SavedEstimator:
    """Load whatever estimator of textkin a folder holds.

    Parameters
    ----------
    path : str or Path
        A folder that the `save` of an estimator made.

    Returns
    -------
    estimator
        Fitted, as it was saved.

    See Also
    --------
    SavedEstimator.load : Load an estimator of a class that is known.
    """
    loaded: SavedEstimator = _load(Path(path), SavedEstimator)
    return loaded


def _folder(path: Path) -> Folder:
    return Folder(path, "textkin.estimator", 1, "a fitted estimator", "the save of an estimator")


def _encode(value: Any, name: str, prefix: str, tensors: dict[str, NDArray[Any]]) -> Any:  # noqa: ANN401
    """Return a value as JSON; arrays go to `tensors` under their dotted names."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list | tuple):
        array = _array_of(value) if len(value) > _LONG else None
        if array is not None:
            node = {"list": _encode(array, name, prefix, tensors)}
            return {"tuple": node} if isinstance(value, tuple) else node
        items = [
            _encode(item, f"{name}[{at}]", f"{prefix}.{at}", tensors)
            for at, item in enumerate(value)
        ]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind
        if kind == "U" or (kind == "O" and all(isinstance(item, str) for item in value.flat)):
            encoded = [item.encode("utf-8", "surrogatepass") for item in value.flat]
            ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
            tensors[f"{prefix}.utf8"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            tensors[f"{prefix}.ends"] = ends
            return {"strings": prefix, "shape": list(value.shape)}
        tensors[prefix] = _checked(value, name)
        return {"tensor": prefix}
    if isinstance(value, sparse.csr_array):
        parts = {part: getattr(value, part) for part in ("data", "indices", "indptr")}
        for part, array in parts.items():
            tensors[f"{prefix}.{part}"] = _checked(array, name)
        return {"csr": prefix, "shape": list(value.shape)}
    if isinstance(value, SavedEstimator):
        start = f"{prefix}." if prefix else ""
        parameters = value.get_params(deep=False)  # type: ignore[attr-defined]
        parameters.pop("device", None)  # of this machine; another may have none
        fitted = {key: item for key, item in vars(value).items() if _is_fitted_name(key)}
        return {
            "class": type(value).__name__,
            "parameters": {
                key: _encode(item, key, f"{start}{key}", tensors)
                for key, item in parameters.items()
            },
            "fitted": {
                key: _encode(item, key, f"{start}{key}", tensors) for key, item in fitted.items()
            },
        }
    if hasattr(value, "_saved_parts"):
        parts = value._saved_parts()
        return {
            "value": type(value).__name__,
            "parts": {
                key: _encode(item, f"{name}.{key}", f"{prefix}.{key}", tensors)
                for key, item in parts.items()
            },
        }
    raise TypeError(
        f"{name} cannot be saved: it is of the type {type(value).__name__}. Numbers, strings, "
        "arrays, lists of these and estimators can; set a parameter to one of them first "
        "(random_state to a number or None)."
    )


def _checked(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype not in _KINDS:
        raise TypeError(
            f"{name} cannot be saved: its dtype is {array.dtype}. Arrays of "
            f"{', '.join(np.dtype(kind).name for kind in _KINDS)} and strings can."
        )
    return np.array(array, order="C", copy=None)


def _array_of(items: list[Any] | tuple[Any, ...]) -> NDArray[Any] | None:
    """Return an array that gives back the same items, if they are all of one simple type."""
    kinds = {type(item) for item in items}
    if kinds == {float}:
        return np.array(items, dtype=np.float64)
    if kinds == {int} and min(items) >= -(2**63) and max(items) < 2**63:
        return np.array(items, dtype=np.int64)
    return np.array(items, dtype=object) if kinds == {str} else None


class _Decoder:
    """Makes values of what a manifest describes; trusts nothing of it."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.tensors = folder.tensors(_ARRAYS)

    def value(self, node: Any, depth: int = 0) -> Any:  # noqa: ANN401
        if depth > _DEEPEST:
            raise self.folder.damaged(f"{MANIFEST} is nested too deeply")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return [self.value(item, depth + 1) for item in node]
        match node:
            case {"float": "inf" | "-inf" | "nan" as written, **rest} if not rest:
                return float(written)
            case {"tuple": (list() | {"list": dict()}) as items, **rest} if not rest:
                return tuple(self.value(items, depth))
            case {"list": ({"tensor": str()} | {"strings": str()}) as array, **rest} if not rest:
                return self.value(array, depth + 1).ravel().tolist()
            case {"tensor": str(key), **rest} if not rest:
                return self.tensor(key)
            case {"strings": str(key), "shape": [*shape], **rest} if not rest:
                return self.strings(key, shape)
            case {"csr": str(key), "shape": [int(rows), int(columns)], **rest} if not rest:
                return self.csr(key, (rows, columns))
            case {"value": str(name), "parts": dict(parts), **rest} if not rest:
                return self.made_of_parts(name, parts, depth)
            case {"class": str(name), "parameters": dict(), "fitted": dict(), **rest} if not rest:
                return self.estimator(self.class_named(name), node, depth)
        raise self.folder.damaged(f"{MANIFEST} has an entry that means nothing")

    def tensor(self, key: str) -> NDArray[Any]:
        if key not in self.tensors:
            raise self.folder.damaged(f"{_ARRAYS} has no {key!r}")
        return self.tensors[key]

    def strings(self, key: str, shape: list[Any]) -> NDArray[np.object_]:
        utf8, ends = self.tensor(f"{key}.utf8"), self.tensor(f"{key}.ends")
        if (
            utf8.dtype != np.uint8
            or ends.dtype != np.int64
            or utf8.ndim != 1
            or ends.ndim != 1
            or ends[:1].tolist() != [0]
            or ends[-1] != utf8.size
            or (ends[1:] < ends[:-1]).any()
        ):
            raise self.folder.damaged(f"{_ARRAYS} has no strings under {key!r}")
        sizes = [size for size in shape if type(size) is int and size >= 0]
        if sizes != shape or math.prod(sizes) != ends.size - 1:
            raise self.folder.damaged(f"{MANIFEST} has strings of a wrong shape")
        text, cuts = utf8.tobytes(), ends.tolist()
        array = np.empty(ends.size - 1, dtype=object)
        try:
            array[:] = [
                text[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(cuts)
            ]
            return array.reshape(sizes)
        except ValueError as error:
            raise self.folder.damaged(f"the strings under {key!r} are none ({error})") from error

    def csr(self, key: str, shape: tuple[int, int]) -> Any:  # noqa: ANN401
        data, indices, indptr = (self.tensor(f"{key}.{p}") for p in ("data", "indices", "indptr"))
        try:
            matrix = sparse.csr_array((data, indices, indptr), shape=shape)
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, OverflowError) as error:
            raise self.folder.damaged(f"{key!r} is no sparse array ({error})") from error
        return matrix

    def made_of_parts(self, name: str, parts: dict[str, Any], depth: int) -> Any:  # noqa: ANN401
        made = getattr(textkin, name, None) if name in textkin.__all__ else None
        make = getattr(made, "_of_saved_parts", None)
        if make is None:
            raise self.folder.damaged(f"{MANIFEST} names {name!r}, which is made of no parts")
        try:
            return make({key: self.value(item, depth + 1) for key, item in parts.items()})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self.folder.damaged(f"the {name} in it is not whole ({error})") from error

    def class_named(self, name: str) -> type[SavedEstimator]:
        if name in textkin.__all__:
            getattr(textkin, name)  # loads its room, if nobody has used it yet
        found = SavedEstimator._saved_classes.get(name)
        if found is None:
            raise ValueError(
                f"{self.folder.path} holds a {name!r}, which this textkin does not know. Install "
                "a newer textkin, or load it with its class."
            )
        return found

    def estimator(
        self, kind: type[SavedEstimator], node: dict[str, Any], depth: int
    ) -> SavedEstimator:
        known = kind._get_param_names()  # type: ignore[attr-defined]
        if not set(node["parameters"]) <= set(known):
            unknown = sorted(set(node["parameters"]) - set(known))
            raise self.folder.damaged(f"{kind.__name__} has no parameters {unknown}")
        if not all(_is_fitted_name(key) for key in node["fitted"]):
            raise self.folder.damaged(f"{MANIFEST} has fitted attributes with other names")
        made = kind(**{key: self.value(v, depth + 1) for key, v in node["parameters"].items()})
        fitted = {key: self.value(item, depth + 1) for key, item in node["fitted"].items()}
        try:
            for key, item in fitted.items():
                setattr(made, key, item)
            check_params(made)
            if fitted or depth == 0:  # a parameter may be an estimator that is not
                check_is_fitted(made)
                _check_columns(made)
                made._check_loaded()
        except (ValueError, TypeError, AttributeError) as error:
            raise self.folder.damaged(
                f"the {kind.__name__} in it is not whole ({error})"
            ) from error
        return made


def _load(path: Path, wanted: Any) -> Any:  # noqa: ANN401 (an estimator of that class)
    folder = _folder(path)
    manifest = folder.manifest()
    folder.check_files(manifest.get("files"), (_ARRAYS,))
    name = manifest.get("class")
    if not isinstance(name, str):
        raise folder.damaged(f"{MANIFEST} must give the class")
    decoder = _Decoder(folder)
    kind = wanted if name == wanted.__name__ else decoder.class_named(name)
    if not issubclass(kind, wanted):
        raise ValueError(f"{path} holds a {name}, not a {wanted.__name__}; use {name}.load.")
    node = {key: manifest.get(key) for key in ("class", "parameters", "fitted")}
    if not (isinstance(node["parameters"], dict) and isinstance(node["fitted"], dict)):
        raise folder.damaged(f"{MANIFEST} must give parameters and fitted attributes")
    return decoder.estimator(kind, node, 0)


def _check_columns(made: Any) -> None:  # noqa: ANN401 (an estimator)
    """Check what scikit-learn leaves in every estimator of the columns that `fit` saw."""
    if hasattr(made, "n_features_in_") and not is_count(made.n_features_in_):
        raise ValueError("n_features_in_ must be a whole number of at least 1")
    if hasattr(made, "feature_names_in_") and not (
        isinstance(made.feature_names_in_, np.ndarray)
        and made.feature_names_in_.dtype == object
        and made.feature_names_in_.shape == (made.n_features_in_,)
    ):
        raise ValueError("feature_names_in_ must be strings, one for each column")


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name.isidentifier()


def whole_or_not_at_all(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Let a fit that fails, or is interrupted, leave the estimator as it was before."""

    @wraps(fit)
    def fit_or_restore(self: SavedEstimator, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
        before = vars(self).copy()
        try:
            return fit(self, *arguments, **keywords)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return fit_or_restore
