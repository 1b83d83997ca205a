"""`SavedEstimator`: saving and loading of estimators, and rollback of a failed `fit`.

A folder has a manifest with the class, its parameters and its fitted attributes as JSON. Each array
among them is a tensor of ``arrays.safetensors``; the manifest has its size and hash. Nothing is
unpickled, only classes of textkin are created, and only fitted attributes (names with a trailing
underscore) are set. Word vectors of an estimator are saved with it.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from textkin._base._folders import LARGEST_MANIFEST, MANIFEST, Folder, is_count
from textkin._base._parameters import check_params, integer, one_of
from textkin._base._saved_names import MODULES, present_names

__all__ = [
    "SavedEstimator",
    "is_loadable",
    "load",
    "load_estimator",
    "rollback_on_error",
    "takes_texts",
]

_ARRAYS = "arrays.safetensors"
_KINDS = "?", "i4", "i8", "u1", "f4", "f8"
_LONG = 100  # longer lists of numbers or strings are saved as arrays to keep manifests small
_DEEPEST = 12  # maximum nesting, since an untrusted file may nest without limit

# Parameters that many estimators have, as they can be saved.
_COMMON = {
    "n_jobs": one_of(None) | integer(high=-1) | integer(1),
    "random_state": one_of(None) | integer(0, 2**32 - 1),
}


class SavedInParts(Protocol):
    """Value, such as word vectors, that is saved as parts by name and made from them again."""

    def _saved_parts(self) -> dict[str, Any]:
        """Return the parts, as values that can be saved."""

    @classmethod
    def _of_saved_parts(cls, parts: Mapping[str, Any]) -> Self:
        """Make the value from its parts; an untrusted file may hold any parts."""


class SavedEstimator:
    """Mixin of estimators with `save` and `load`, without unpickling.

    Parameters and fitted attributes may be None, booleans, numbers, strings, arrays of numbers,
    arrays of strings, sparse CSR arrays, lists, tuples, sets of strings, dictionaries with strings
    as keys, other such estimators, and values that are `SavedInParts`, such as word vectors. A
    class with private fitted state overrides `_saved_state` and `_restore_state`.
    A class whose core code trusts its arrays overrides `_check_loaded`.
    """

    _saved_classes: ClassVar[dict[str, type["SavedEstimator"]]] = {}
    _unsaved: ClassVar[frozenset[str]] = frozenset()
    """Fitted attributes that `_restore_state` sets instead."""

    def __init_subclass__(cls, **keywords: Any) -> None:  # noqa: ANN401 (scikit-learn's own)
        super().__init_subclass__(**keywords)
        if cls.__module__.split(".")[0] == "textkin":
            SavedEstimator._saved_classes[cls.__name__] = cls

    def save(self, path: str | Path) -> None:
        """Save parameters and fitted attributes to a new folder.

        Parameters
        ----------
        path : str or Path
            Folder to create, with its parents; an existing folder must be empty.

        Raises
        ------
        FileExistsError
            If something exists at the path.
        TypeError
            If a parameter cannot be saved, such as a random number generator.
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
        """Load an estimator of this class from a folder that `save` wrote.

        Parameters
        ----------
        path : str or Path
            Folder. It may be untrusted: nothing in it is executed, and sizes, hashes, parameters,
            and shapes are checked.

        Returns
        -------
        estimator
            Fitted estimator, as saved.

        Raises
        ------
        FileNotFoundError
            If the folder does not exist.
        ValueError
            If the folder has other content, or is corrupt.
        """
        loaded: Self = _load(Path(path), cls)
        return loaded

    @property
    def _takes_texts(self) -> bool:
        """True if the input of `fit` is texts or token lists, False if it is bags."""
        return False

    def _saved_state(self) -> dict[str, Any]:
        """Return private attributes that `fit` set, as values for `save`."""
        return {}

    def _restore_state(self, state: dict[str, Any]) -> None:
        """Set private attributes from an untrusted saved folder, after validation.

        Called after parameters and fitted attributes are set. `ValueError`, `TypeError`,
        `AttributeError`, `KeyError`, and `IndexError` report invalid values.
        """
        if state:
            raise ValueError("private state must be empty for this class")

    def _check_loaded(self) -> None:
        """Raise ValueError if the fitted attributes from a folder are inconsistent."""


def takes_texts(model: Any) -> bool:  # noqa: ANN401 (a transformer of anybody's)
    """Return True if a model makes vectors of texts, not of bags; None makes no vectors."""
    if model is None:
        return False
    if isinstance(model, SavedEstimator):
        return model._takes_texts
    if hasattr(model, "steps") and model.steps:
        return takes_texts(model.steps[0][1])
    try:
        return bool(get_tags(model).input_tags.string)
    except (AttributeError, TypeError):  # models from outside scikit-learn may lack tags
        return False


def is_loadable(kind: type) -> bool:
    """Return True if `load_estimator` makes estimators of this class, not of a class of its name.

    A class outside textkin can be a subclass of an estimator; it can be saved, and not loaded.
    """
    return SavedEstimator._saved_classes.get(kind.__name__) is kind


def load_estimator(path: str | Path) -> SavedEstimator:
    """Load a saved estimator of any class of textkin.

    Parameters
    ----------
    path : str or Path
        Folder created by the `save` of an estimator.

    Returns
    -------
    estimator
        Fitted estimator, as saved.

    See Also
    --------
    SavedEstimator.load : Load an estimator of a known class.
    """
    loaded: SavedEstimator = _load(Path(path), SavedEstimator)
    return loaded


def load(path: str | Path) -> Any:  # noqa: ANN401 (an estimator, or word vectors)
    """Load an estimator or word vectors from a folder that `save` wrote.

    Parameters
    ----------
    path : str or Path
        Folder that the `save` of an estimator or of `WordVectors` made. The folder may come from an
        attacker: nothing in it is executed, and hashes, parameters, and arrays are checked.

    Returns
    -------
    estimator or WordVectors
        Object of the saved class. Its arrays are memory-mapped and read-only.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    ValueError
        If the folder holds something else, or is corrupt.

    See Also
    --------
    WordVectors.load : Load word vectors from files in many formats.
    Index.open : Open an index.

    Examples
    --------
    >>> import tempfile
    >>> import textkin as tk
    >>> classifier = tk.NearestNeighborClassifier(n_neighbors=1)
    >>> classifier = classifier.fit(["Cats purr", "Stocks fell sharply"], ["pets", "money"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     classifier.save(f"{folder}/pets")
    ...     loaded = tk.load(f"{folder}/pets")
    ...     loaded.predict(["A kitten sleeps"])
    array(['pets'], dtype='<U5')
    """
    folder = _folder(Path(path))
    if folder.path.is_dir() and (folder.path / MANIFEST).is_file():
        found = folder.json(MANIFEST, LARGEST_MANIFEST)
        if isinstance(found, dict) and found.get("format") == "textkin.word-vectors":
            vectors: Any = _defined("WordVectors")
            return vectors.load(path)
    return _load(Path(path), SavedEstimator)


def _folder(path: Path) -> Folder:
    return Folder(path, "textkin.estimator", 2, "a fitted estimator", "the save of an estimator")


def _encode(value: Any, name: str, prefix: str, tensors: dict[str, NDArray[Any]]) -> Any:  # noqa: ANN401
    """Convert a value to JSON, and collect its arrays in `tensors` under dotted names."""
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
        if kind == "U":
            return {"fixed": _encode(value.astype(object), name, prefix, tensors)}
        if kind == "O" and all(isinstance(item, str) for item in value.flat):
            encoded = [item.encode("utf-8", "surrogatepass") for item in value.flat]
            ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
            tensors[f"{prefix}.utf8"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            tensors[f"{prefix}.ends"] = ends
            return {"strings": prefix, "shape": list(value.shape)}
        array = _checked(value, name)
        for known, other in tensors.items():  # such as word vectors that two estimators share
            if _is_same_memory(array, other):
                return {"tensor": known}
        tensors[prefix] = array
        return {"tensor": prefix}
    if isinstance(value, sparse.csr_array):
        parts = {part: getattr(value, part) for part in ("data", "indices", "indptr")}
        for part, array in parts.items():
            tensors[f"{prefix}.{part}"] = _checked(array, name)
        return {"csr": prefix, "shape": list(value.shape)}
    if isinstance(value, set | frozenset) and all(isinstance(item, str) for item in value):
        return {"set": _encode(np.array(sorted(value), dtype=object), name, prefix, tensors)}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {
            "map": {
                key: _encode(item, f"{name}.{key}", f"{prefix}.{key}", tensors)
                for key, item in value.items()
            }
        }
    if isinstance(value, SavedEstimator):
        start = f"{prefix}." if prefix else ""
        parameters = value.get_params(deep=False)  # type: ignore[attr-defined]
        parameters.pop("device", None)  # the device depends on the machine, so it is not loaded
        fitted = {key: item for key, item in vars(value).items() if _is_fitted_name(key)}
        state = value._saved_state() if fitted else {}
        described = {
            "class": type(value).__name__,
            "parameters": {
                key: _encode(item, key, f"{start}{key}", tensors)
                for key, item in parameters.items()
            },
            "fitted": {
                key: _encode(item, key, f"{start}{key}", tensors)
                for key, item in fitted.items()
                if key not in value._unsaved
            },
        }
        if state:
            described["state"] = {
                key: _encode(item, key, f"{start}state.{key}", tensors)
                for key, item in state.items()
            }
        return described
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
        f"{name} cannot be saved: its type is {type(value).__name__}. Numbers, strings, "
        "arrays, lists of these, and estimators can be saved; set the parameter to one of them "
        "(random_state to a number or None)."
    )


def _checked(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype not in _KINDS:
        raise TypeError(
            f"{name} cannot be saved: its dtype is {array.dtype}. Arrays of "
            f"{', '.join(np.dtype(kind).name for kind in _KINDS)} and strings can be saved."
        )
    return np.asarray(array, order="C")


def _is_same_memory(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return True if two arrays share memory, dtype, and shape."""
    return (
        one.size > 0
        and one.ctypes.data == other.ctypes.data
        and one.dtype == other.dtype
        and one.shape == other.shape
    )


def _array_of(items: list[Any] | tuple[Any, ...]) -> NDArray[Any] | None:
    """Convert a list of floats, integers, or strings to an array; return None for mixed types."""
    kinds = {type(item) for item in items}
    if kinds == {float}:
        return np.array(items, dtype=np.float64)
    if kinds == {int} and min(items) >= -(2**63) and max(items) < 2**63:
        return np.array(items, dtype=np.int64)
    return np.array(items, dtype=object) if kinds == {str} else None


class _Decoder:
    """Converter from the JSON of an untrusted manifest to values and estimators."""

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
            case {"fixed": {"strings": str()} as strings, **rest} if not rest:
                return self.value(strings, depth + 1).astype(str)
            case {"set": {"strings": str()} as strings, **rest} if not rest:
                return frozenset(self.value(strings, depth + 1).ravel().tolist())
            case {"map": dict(items), **rest} if not rest:
                return {key: self.value(item, depth + 1) for key, item in items.items()}
            case {"strings": str(key), "shape": [*shape], **rest} if not rest:
                return self.strings(key, shape)
            case {"csr": str(key), "shape": [int(rows), int(columns)], **rest} if not rest:
                return self.csr(key, (rows, columns))
            case {"value": str(name), "parts": dict(parts), **rest} if not rest:
                return self.made_of_parts(name, parts, depth)
            case {"class": str(), "parameters": dict(), "fitted": dict(), **rest} if not rest or (
                rest.keys() == {"state"} and isinstance(rest["state"], dict)
            ):
                node = present_names(node)
                return self.estimator(self.class_named(node["class"]), node, depth)
        raise self.folder.damaged(f"{MANIFEST} has an unknown entry")

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
            raise self.folder.damaged(f"{MANIFEST} has strings of the wrong shape")
        text, cuts = utf8.tobytes(), ends.tolist()
        array = np.empty(ends.size - 1, dtype=object)
        try:
            array[:] = [
                text[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(cuts)
            ]
            return array.reshape(sizes)
        except ValueError as error:
            raise self.folder.damaged(f"{key!r} is not an array of strings ({error})") from error

    def csr(self, key: str, shape: tuple[int, int]) -> Any:  # noqa: ANN401
        data, indices, indptr = (self.tensor(f"{key}.{p}") for p in ("data", "indices", "indptr"))
        try:
            matrix = sparse.csr_array((data, indices, indptr), shape=shape)
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, OverflowError) as error:
            raise self.folder.damaged(f"{key!r} is not a sparse array ({error})") from error
        return matrix

    def made_of_parts(self, name: str, parts: dict[str, Any], depth: int) -> Any:  # noqa: ANN401
        make = getattr(_defined(name), "_of_saved_parts", None)
        if make is None:
            raise self.folder.damaged(f"{MANIFEST} names {name!r}, which is not saved in parts")
        try:
            return make({key: self.value(item, depth + 1) for key, item in parts.items()})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self.folder.damaged(
                f"its {name} is invalid ({str(error).rstrip('.')})"
            ) from error

    def class_named(self, name: str) -> type[SavedEstimator]:
        _defined(name)  # the import registers the class
        found = SavedEstimator._saved_classes.get(name)
        if found is None:
            raise ValueError(
                f"{self.folder.path} has a {name!r}, which this version of textkin does not know. "
                "Install a newer textkin, or load it with its class."
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
        given = node.get("state", {})
        state = {key: self.value(item, depth + 1) for key, item in given.items()}
        try:
            for key, item in fitted.items():
                setattr(made, key, item)
            check_params(made)
            for key, constraint in _COMMON.items():
                if key in known:
                    constraint.check(key, getattr(made, key))
            if fitted or depth == 0:  # a parameter may be an unfitted estimator
                check_is_fitted(made)
                _check_columns(made)
                made._restore_state(state)
                made._check_loaded()
            elif state:
                raise ValueError("an estimator that is not fitted must have no state")
        except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
            raise self.folder.damaged(
                f"its {kind.__name__} is invalid ({str(error).rstrip('.')})"
            ) from error
        return made


def _load(path: Path, wanted: Any) -> Any:  # noqa: ANN401 (an estimator of that class)
    folder = _folder(path)
    manifest = folder.manifest()
    folder.check_files(manifest.get("files"), (_ARRAYS,))
    node = {key: manifest.get(key) for key in ("class", "parameters", "fitted")}
    if not isinstance(node["class"], str):
        raise folder.damaged(f"{MANIFEST} must have the class")
    if not (isinstance(node["parameters"], dict) and isinstance(node["fitted"], dict)):
        raise folder.damaged(f"{MANIFEST} must have parameters and fitted attributes")
    if "state" in manifest:
        node["state"] = manifest["state"]
        if not isinstance(node["state"], dict):
            raise folder.damaged(f"{MANIFEST} must have the state by name")
    node = present_names(node)
    name = node["class"]
    decoder = _Decoder(folder)
    kind = wanted if name == wanted.__name__ else decoder.class_named(name)
    if not issubclass(kind, wanted):
        raise ValueError(
            f"{path} must have a saved {wanted.__name__}; got a {name}. Use {name}.load."
        )
    return decoder.estimator(kind, node, 0)


def _defined(name: str) -> object:
    """Return the class with a name in manifests, or None for an unknown name."""
    module = MODULES.get(name)
    return module and getattr(import_module(f"textkin.{module}"), name)


def _check_columns(made: Any) -> None:  # noqa: ANN401 (an estimator)
    """Raise if a loaded `n_features_in_` or `feature_names_in_` is invalid."""
    if hasattr(made, "n_features_in_") and not is_count(made.n_features_in_):
        raise ValueError("n_features_in_ must be an integer of at least 1")
    if hasattr(made, "feature_names_in_") and not (
        isinstance(made.feature_names_in_, np.ndarray)
        and made.feature_names_in_.dtype == object
        and made.feature_names_in_.shape == (made.n_features_in_,)
    ):
        raise ValueError("feature_names_in_ must be strings, one per column")


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name.isidentifier()


_Method = TypeVar("_Method", bound=Callable[..., Any])


def rollback_on_error(method: _Method) -> _Method:
    """Decorate `fit` so that a failed or interrupted call leaves the estimator unchanged.

    Every estimator decorates its `fit`, and each other training method with its own code. The
    attributes from before the call are restored, not copies of them: assign new values to
    attributes, and never change a value in place.
    """

    @wraps(method)
    def fit_or_restore(estimator: Any, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
        before = vars(estimator).copy()
        try:
            return method(estimator, *arguments, **keywords)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            raise

    return cast("_Method", fit_or_restore)
