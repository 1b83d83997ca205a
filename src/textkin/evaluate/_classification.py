"""How well predicted labels follow the true ones: accuracy, error, macro-averaged F1."""

import numpy as np

from textkin.evaluate._labels import LabelsLike, coded

__all__ = ["accuracy", "error", "macro_f1"]

_NAMES = ("y_true", "y_pred")


def accuracy(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """Return the share of documents whose label is right.

    Parameters
    ----------
    y_true, y_pred : iterable of labels
        What each document is, and what was said of it. Strings, numbers, booleans; compared by
        ``==``.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    TypeError, ValueError
        For lists of different length, no documents, or labels that cannot be compared (NaN).

    Examples
    --------
    >>> from textkin.evaluate import accuracy
    >>> accuracy(["pets", "money", "pets"], ["pets", "pets", "pets"])
    0.6666666666666666
    """
    _, (true, said) = coded(y_true, y_pred, _NAMES)
    return float(np.mean(true == said))


def error(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    """Return the share of documents whose label is wrong: 1 less the accuracy.

    Parameters
    ----------
    y_true, y_pred : iterable of labels
        As for `accuracy`.

    Returns
    -------
    float
        From 0 to 1; papers on classification by neighbours print it in percent.

    Examples
    --------
    >>> from textkin.evaluate import error
    >>> error(["pets", "money", "pets"], ["pets", "pets", "pets"])
    0.3333333333333333
    """
    _, (true, said) = coded(y_true, y_pred, _NAMES)
    return float(np.mean(true != said))


def macro_f1(y_true: LabelsLike, y_pred: LabelsLike) -> float:
    r"""Return the mean over classes of F1, so that a small class counts as much as a large one.

    Parameters
    ----------
    y_true, y_pred : iterable of labels
        As for `accuracy`.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    Of class c, :math:`F_1 = 2 t / (2 t + f + m)`: t documents of the class that were found, f that
    were taken for it and are not, m of it that were missed. Classes are all labels that occur on
    either side, as in scikit-learn: one that is only ever predicted counts with 0.

    Examples
    --------
    >>> from textkin.evaluate import macro_f1
    >>> macro_f1(["pets", "money", "pets"], ["pets", "pets", "pets"])
    0.4
    """
    labels, (true, said) = coded(y_true, y_pred, _NAMES)
    found = np.bincount(true[true == said], minlength=len(labels))
    both = np.bincount(true, minlength=len(labels)) + np.bincount(said, minlength=len(labels))
    return float(np.mean(2 * found / both))
