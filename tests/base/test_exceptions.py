"""Messages, hints, and attributes of exceptions."""

import copy
import pickle

import pytest

from textkin import exceptions
from textkin._base import hinted, integer, one_of
from textkin.exceptions import (
    AddError,
    DamagedIndexError,
    EmptyDocumentError,
    IndexLockedError,
    ParameterError,
    ParameterTypeError,
)


def test_parameter_error_has_the_parts_of_its_message():
    with pytest.raises(ParameterError) as caught:
        one_of("a", None, "b").check("mode", "c", "Pass `mode='a'`.")
    error = caught.value
    assert str(error) == "mode must be one of 'a', None, 'b'; got 'c'. Pass `mode='a'`."
    assert isinstance(error, ValueError)
    assert (error.parameter, error.expected, error.got) == ("mode", "one of 'a', None, 'b'", "'c'")
    assert (error.hint, error.choices) == ("Pass `mode='a'`.", ("a", "b"))


def test_wrong_type_raises_type_error():
    with pytest.raises(ParameterTypeError, match=r"^k must be an? .*; got '1'\.$") as caught:
        integer(1).check("k", "1")
    assert isinstance(caught.value, TypeError)
    assert caught.value.parameter == "k"
    assert not isinstance(caught.value, ParameterError)


def test_choices_of_either_constraint_are_joined():
    assert (one_of("a") | integer(1) | one_of(None, "b")).choices == ("a", "b")


@pytest.mark.parametrize(
    "error",
    [
        ParameterError("k", "at least 1", "0", "Pass more.", choices=["a"]),
        ParameterTypeError("where", message="where: column 2 must be a value."),
        EmptyDocumentError("a is empty.", [0, 2], "a", "it is empty", hint="Leave it out."),
        AddError("document 3: no text.", 3, "x", 2, "w", hint="Repair it."),
        DamagedIndexError("i is damaged.", ["p"], hint="Repair it."),
        IndexLockedError("i is locked.", hint="Wait."),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_exceptions_are_copied_with_all_attributes(error, again):
    found = again(error)
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert vars(found) == vars(error)


@pytest.mark.parametrize("name", exceptions.__all__)
def test_every_exception_and_warning_has_a_hint(name):
    kind = getattr(exceptions, name)
    if name.startswith("Parameter"):
        error = kind("k", "at least 1", "0", hint="Pass 1.")
    else:
        error = kind("Something happened.", hint="Pass 1.")
    assert error.hint == "Pass 1."
    assert str(error).endswith("; got 0. Pass 1." if "Parameter" in name else "happened. Pass 1.")
    assert isinstance(error, ValueError | TypeError | OSError | UserWarning)


def test_hint_within_a_message_is_not_added_again():
    error = AddError(
        "document 1: no id; pass `id=False`. Nothing was added.", hint="pass `id=False`"
    )
    assert str(error) == "document 1: no id; pass `id=False`. Nothing was added."


def test_hinted_built_in_exception_can_be_pickled():
    error = pickle.loads(pickle.dumps(hinted(KeyError, "no such id.", "Test with `id in index`.")))
    assert type(error) is KeyError
    assert error.args == ("no such id. Test with `id in index`.",)
    assert error.hint == "Test with `id in index`."
