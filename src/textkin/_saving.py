"""Fitted estimators in folders: a manifest that says what they are, and their arrays.

The manifest holds the class, its parameters and its fitted attributes as JSON; every array among
them is a tensor of ``arrays.safetensors``, which the manifest gives the size and hash of. Nothing
is unpickled, only classes of textkin are made, and only attributes that a fit leaves (their names
end in an underscore) are set.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from textkin._folders import MANIFEST, Folder
from textkin._validation import check_params

__all__ = ["SavedEstimator", "load_estimator"]

_ARRAYS = "arrays.safetensors"
_KINDS = "b", "i4", "i8", "u1", "f4", "f8"
_DEEPEST = 6  # estimators in lists in estimators; a stranger's file may nest without end


class SavedEstimator:
    """Gives an estimator over numbers `save` and `load`; for scikit-learn's `BaseEstimator`.

    Parameters and fitted attributes may be None, booleans, numbers, strings, arrays of numbers,
    arrays of strings, sparse CSR arrays, lists and tuples of these, and other such estimators. A
    class whose core code would trust its arrays overrides `_check_loaded`.
    """

    _saved_classes: ClassVar[dict[str, type["SavedEstimator"]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:  # noqa: ANN401 (scikit-learn's own)
        super().__init_subclass__(**keywords)
        if cls.__module__.split(".")[0] == "textkin":
            SavedEstimator._saved_classes[cls.__name__] = cls

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
        items = [
            _encode(item, f"{name}[{at}]", f"{prefix}.{at}", tensors)
            for at, item in enumerate(value)
        ]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "U" or all(isinstance(item, str) for item in value.ravel()):
            return {"strings": value.ravel().tolist(), "shape": list(value.shape)}
        if value.dtype in _KINDS:
            tensors[prefix] = np.array(value, order="C", copy=None)
            return {"tensor": prefix}
    if isinstance(value, sparse.csr_array):
        parts = {part: getattr(value, part) for part in ("data", "indices", "indptr")}
        for part, array in parts.items():
            tensors[f"{prefix}.{part}"] = np.ascontiguousarray(array)
        return {"csr": prefix, "shape": list(value.shape)}
    if isinstance(value, SavedEstimator):
        start = f"{prefix}." if prefix else ""
        parameters = value.get_params(deep=False)  # type: ignore[attr-defined]
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
    raise TypeError(
        f"{name} cannot be saved: it is of the type {type(value).__name__}. Numbers, strings, "
        "arrays, lists of these and estimators can; set a parameter to one of them first "
        "(random_state to a number or None)."
    )


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
            case {"tuple": list(items), **rest} if not rest:
                return tuple(self.value(item, depth + 1) for item in items)
            case {"tensor": str(key), **rest} if not rest:
                return self.tensor(key)
            case {"strings": list(items), "shape": [*shape], **rest} if not rest:
                return self.strings(items, shape)
            case {"csr": str(key), "shape": [int(rows), int(columns)], **rest} if not rest:
                return self.csr(key, (rows, columns))
            case {"class": str(name), "parameters": dict(), "fitted": dict(), **rest} if not rest:
                return self.estimator(self.class_named(name), node, depth)
        raise self.folder.damaged(f"{MANIFEST} has an entry that means nothing")

    def tensor(self, key: str) -> NDArray[Any]:
        if key not in self.tensors:
            raise self.folder.damaged(f"{_ARRAYS} has no {key!r}")
        return self.tensors[key]

    def strings(self, items: list[Any], shape: list[Any]) -> NDArray[np.object_]:
        sizes = [size for size in shape if type(size) is int and size >= 0]
        if sizes != shape or math.prod(sizes) != len(items):
            raise self.folder.damaged(f"{MANIFEST} has strings of a wrong shape")
        if not all(isinstance(item, str) for item in items):
            raise self.folder.damaged(f"{MANIFEST} has other things among strings")
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(sizes)

    def csr(self, key: str, shape: tuple[int, int]) -> Any:  # noqa: ANN401
        data, indices, indptr = (self.tensor(f"{key}.{p}") for p in ("data", "indices", "indptr"))
        try:
            matrix = sparse.csr_array((data, indices, indptr), shape=shape)
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, OverflowError) as error:
            raise self.folder.damaged(f"{key!r} is no sparse array ({error})") from error
        return matrix

    def class_named(self, name: str) -> type[SavedEstimator]:
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
        for key, item in node["fitted"].items():
            setattr(made, key, self.value(item, depth + 1))
        try:
            check_params(made)
            if node["fitted"] or depth == 0:  # a parameter may be an estimator that is not
                check_is_fitted(made)
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


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name.isidentifier()
