"""All options of `BagOfWords`, compared with reference implementations and scikit-learn."""

import pickle
import re
from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from textkin.exceptions import ParameterTypeError, VocabularyWarning
from textkin.text import BagOfWords, Vocabulary, tokenize
from textkin.text import _analyzer as terms_module

WORDS = ["a", "b", "cc", "dddddddddd", "eeeeeeeeeeee", "É"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=8)
RULE = r"[^\W_]+(?:'[^\W_]+)*"  # regular expression for words: equal to ours for normalized text


def reference_terms(
    text: str,
    *,
    stop=frozenset(),
    phrases=(),
    normalize=lambda word: word,
    ngram_range=(1, 1),
) -> list[str]:
    """Process one text by the documented steps of `BagOfWords`, in the documented order."""
    words = tokenize(text)
    names = {}
    for phrase in phrases:
        names.setdefault(tuple(tokenize(phrase)), phrase)
    joined, at = [], 0
    while at < len(words):
        for end in range(len(words), at + 1, -1):
            if tuple(words[at:end]) in names:
                joined.append((names[tuple(words[at:end])], True))
                at = end
                break
        else:
            joined.append((words[at], False))
            at += 1
    kept = [(word, name) for word, name in joined if word.lower() not in stop]
    formed = [word if is_name else normalize(word) for word, is_name in kept]
    formed = [word for word in formed if word]
    shortest, longest = ngram_range
    return [
        " ".join(formed[start : start + n])
        for n in range(shortest, longest + 1)
        for start in range(len(formed) - n + 1)
    ]


@settings(max_examples=200)
@given(
    TEXTS,
    st.frozensets(st.sampled_from(WORDS), max_size=2),
    st.lists(st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map("_".join), max_size=3),
    st.sampled_from([None, lambda word: word[:2].lower(), lambda word: word.strip("b")]),
    st.sampled_from([(1, 1), (1, 2), (2, 3)]),
)
def test_processing_steps_equal_reference(texts, stop, phrases, normalize, ngram_range):
    stop = {word.lower() for word in stop}
    phrases = list(dict.fromkeys(phrases))
    estimator = BagOfWords(
        sorted(stop),
        phrases=phrases or None,
        normalizer=normalize,
        ngram_range=ngram_range,
    )
    slow = [
        reference_terms(
            text,
            stop=stop,
            phrases=phrases,
            normalize=normalize or (lambda word: word),
            ngram_range=ngram_range,
        )
        for text in texts
    ]
    for text, expected in zip(texts, slow, strict=True):
        assert estimator.words(text) == expected
    names = sorted({word for words in slow for word in words})
    if not names:
        with pytest.raises(ValueError, match="no word can be learned"):
            estimator.fit(texts)
        return
    bags = estimator.fit_transform(texts).toarray()
    assert estimator.vocabulary_.words == tuple(names)
    assert_array_equal(bags, [[words.count(name) for name in names] for words in slow])
    assert_array_equal(clone(estimator).fit(texts).transform(texts).toarray(), bags)
    tokens = estimator.tokens(texts)
    assert [tokens.words(d) for d in range(len(tokens))] == slow


@settings(max_examples=150)
@given(
    TEXTS,
    st.integers(1, 3),
    st.integers(1, 3) | st.floats(0, 1),
    st.integers(1, 8) | st.floats(0, 1),
    st.none() | st.integers(1, 4),
    st.sampled_from(["count", "tfidf"]),
)
def test_word_selection_equals_reference(texts, min_count, min_df, max_df, max_features, by):
    counters = [Counter(tokenize(text)) for text in texts]
    totals, documents = sum(counters, Counter()), Counter(w for c in counters for w in c)
    n = len(texts)

    def weight(word):
        return totals[word] * (log(n / documents[word]) if by == "tfidf" else 1)

    # Like in scikit-learn, a float is a fraction of the documents: 1 is one document, 1.0 is all.
    least = min_df if isinstance(min_df, int) else min_df * n - 1e-9
    most = max_df if isinstance(max_df, int) else max_df * n + 1e-9
    expected = sorted(
        word for word in totals if totals[word] >= min_count and least <= documents[word] <= most
    )
    if max_features is not None:
        expected = sorted(sorted(expected, key=lambda w: (-round(weight(w), 9), w))[:max_features])
    estimator = BagOfWords(
        None,
        min_count=min_count,
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        max_features_by=by,
    )
    if not expected:
        with pytest.raises(ValueError, match=r"no word can be learned|max_df must allow"):
            estimator.fit(texts)
        return
    assert estimator.fit(texts).vocabulary_.words == tuple(expected)


def test_max_features_selects_by_frequency_or_tfidf():
    texts = ["the press the media", "the press", "the band plays plays plays"]
    frequent = BagOfWords(None, max_features=2).fit(texts)
    assert frequent.vocabulary_.words == ("plays", "the")
    telling = BagOfWords(None, max_features=2, max_features_by="tfidf").fit(texts)
    assert telling.vocabulary_.words == (
        "band",
        "plays",
    )  # "media" and "band" have equal weights


@settings(max_examples=60)
@given(TEXTS, st.sampled_from([(1, 1), (1, 3), (2, 2)]), st.sampled_from([1, 2, 0.3]))
def test_ngrams_and_min_df_equal_scikit_learn(texts, ngram_range, min_df):
    theirs = CountVectorizer(token_pattern=RULE, ngram_range=ngram_range, min_df=min_df)
    ours = BagOfWords(None, ngram_range=ngram_range, min_df=min_df)
    try:
        expected = theirs.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match=r"no word can be learned|max_df must allow"):
            ours.fit(texts)
        return
    assert_array_equal(ours.fit_transform(texts).toarray(), expected.toarray())
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


@pytest.fixture
def small_batches(monkeypatch):
    """Split a few texts into several batches, as happens for a large corpus."""
    monkeypatch.setattr(terms_module, "_BATCH_CHARACTERS", 40)


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
def test_batches_and_threads_do_not_change_results(small_batches, ngram_range):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 30))) for _ in range(200)]
    expected = CountVectorizer(token_pattern=RULE, ngram_range=ngram_range).fit_transform(texts)
    for n_jobs in (1, 2, 5):
        estimator = BagOfWords(None, ngram_range=ngram_range, n_jobs=n_jobs)
        for bags in (estimator.fit_transform(texts), estimator.transform(iter(texts))):
            assert_array_equal(bags.toarray(), expected.toarray())
            assert bags.has_canonical_format
            assert bags.indices.dtype == bags.indptr.dtype == np.int32


def test_large_corpus_gives_the_same_on_several_threads():
    # The corpus exceeds one chunk per thread, so that tables are merged.
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}é" if i % 7 == 0 else f"word{i}" for i in range(20_000)])
    texts = [" ".join(words[rng.zipf(1.3, 400) % 20_000]) for _ in range(1_500)]
    one, four = BagOfWords(None), BagOfWords(None, n_jobs=4)
    first, second = one.fit_transform(texts), four.fit_transform(texts)
    assert sum(map(len, texts)) > 3 * 2**20
    assert one.vocabulary_ == four.vocabulary_
    for name in ("data", "indices", "indptr"):
        assert_array_equal(getattr(first, name), getattr(second, name))
    assert_array_equal(one.tokens(texts).ids, four.tokens(texts).ids)


def test_phrases_are_taken_from_word_vectors():
    from textkin.vectors import WordVectors

    vectors = WordVectors(["New_York", "New_York_Times", "York", "well-known", "of_the"], np.eye(5))
    estimator = BagOfWords(vocabulary=vectors, phrases=vectors)
    text = "The New York Times of New York, well known in York. New, York!"
    expected = ["New_York_Times", "New_York", "well-known", "york", "New_York"]
    assert estimator.words(text) == expected
    assert_array_equal(estimator.transform([text]).toarray(), [[2, 1, 1, 1, 0]])
    exact = BagOfWords(vocabulary=vectors, phrases=vectors, lowercase=False)
    assert exact.words("New York and york") == ["New_York", "york"]
    assert exact.words("new york") == ["york"]  # "new" is a stop word


def test_phrases_are_joined_before_stop_words_are_removed():
    estimator = BagOfWords(phrases=["Bank_of_America"])
    assert estimator.words("the bank of America") == ["Bank_of_America"]


@pytest.mark.parametrize(
    "tokenizer",
    [str.split, re.compile(r"\S+"), re.compile(r"(\S+)"), lambda text: iter(text.split())],
)
def test_custom_tokenizer_is_used(tokenizer):
    estimator = BagOfWords(["the"], tokenizer=tokenizer)
    assert estimator.words("The C++ code, c++ Code") == ["c++", "code,", "c++", "code"]
    assert BagOfWords(None, tokenizer=tokenizer, lowercase=False).words("A a") == ["A", "a"]
    assert estimator.fit_transform(["", "x-ray x-ray"]).toarray().tolist() == [[0], [2]]
    assert clone(estimator).tokenizer is tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "error", "message"),
    [
        ("split", TypeError, "tokenizer must be a callable.*got str"),
        (re.compile(b"x"), TypeError, "pattern of str; got one of bytes"),
        (re.compile("(a)(b)"), ValueError, "at most one group.*got 2 groups"),
        (lambda text: text, TypeError, "must return a list of words; got str"),
        (lambda text: None, TypeError, "must return a list of words; got NoneType"),
        (lambda text: [1], TypeError, r"must return words \(str\); got int"),
    ],
)
def test_invalid_tokenizer_raises(tokenizer, error, message):
    with pytest.raises(error, match=message):
        BagOfWords(tokenizer=tokenizer).fit(["a text"])


def test_normalizer_is_called_once_per_word():
    seen = []

    def normalize(word):
        seen.append(word)
        return word[:-1] if word.endswith("s") else word

    estimator = BagOfWords(normalizer=normalize)
    bags = estimator.fit_transform(["the cats, the cat: cats", "a cat"])
    assert seen == ["cats", "cat"]
    assert estimator.vocabulary_.words == ("cat",)
    assert bags.toarray().tolist() == [[3], [1]]


def test_stop_words_are_removed_before_and_after_normalization():
    # "the9" becomes "the", which is counted; the word "the" itself is removed.
    estimator = BagOfWords(normalizer=lambda word: word.rstrip("9"))
    assert estimator.words("the the9 the") == ["the"]


def test_normalizer_that_returns_no_word_raises():
    with pytest.raises(TypeError, match=r"return a word \(str\); got NoneType for 'cat'"):
        BagOfWords(normalizer=lambda word: None).fit(["cat"])


def test_tokens_keep_word_order():
    estimator = BagOfWords(None, vocabulary=["b", "a"])
    texts = ["a b c a", "", "c", "b"]
    tokens = estimator.tokens(texts)
    assert tokens.ids.dtype == np.int32
    assert tokens.offsets.dtype == np.int64
    assert tokens.offsets.tolist() == [0, 3, 3, 3, 4]
    assert [document.tolist() for document in tokens] == [[1, 0, 1], [], [], [0]]
    assert tokens.lengths().tolist() == [3, 0, 0, 1]
    assert tokens.words(-1) == ["b"]
    assert repr(tokens) == "Tokens(4 documents, 4 tokens)"
    kept = estimator.tokens(texts, unknown="keep")
    assert [document.tolist() for document in kept] == [[1, 0, -1, 1], [], [-1], [0]]
    assert kept.words(0) == ["a", "b", None, "a"]
    with pytest.raises(IndexError):
        tokens[4]
    with pytest.raises(ValueError, match="unknown must be one of 'drop', 'keep'"):
        estimator.tokens(texts, unknown="error")
    assert len(estimator.tokens([])) == 0


def test_max_words_per_document_keeps_most_frequent_words():
    # METHODS.md, section 1.3: counts a:3, b:2, c:1, cap 2. Of d and e (once each) the first is
    # kept.
    estimator = BagOfWords(None, vocabulary=list("abcde"), max_words_per_document=2)
    assert estimator.transform(["a b c a b a"]).toarray().tolist() == [[3, 2, 0, 0, 0]]
    assert estimator.transform(["e a d a"]).toarray().tolist() == [[2, 0, 0, 0, 1]]


def test_unusual_texts_are_counted():
    texts = ["\ud800 lone", "x" * 100_000, "é" * 5_000, "\0", "a\0b"]
    estimator = BagOfWords(None)
    bags = estimator.fit_transform(texts)
    assert bags.sum(axis=1).tolist() == [1, 1, 1, 0, 2]
    assert {"lone", "x" * 100_000, "é" * 5_000, "a", "b"} == set(estimator.vocabulary_)
    own = BagOfWords(None, tokenizer=str.split).fit(["\ud800 lone"])
    assert "\ud800" in own.vocabulary_


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"min_df": 0}, ValueError, "min_df must be an integer at least 1 or a share"),
        ({"min_df": 1.5}, ValueError, "min_df must be.*0.0 to 1.0; got 1.5"),
        ({"max_df": "all"}, TypeError, "max_df must be"),
        ({"max_df": 1, "min_df": 2}, ValueError, "max_df must allow at least as many.*requires 2"),
        ({"max_features": 0}, ValueError, "max_features must be"),
        ({"max_features_by": "idf"}, ValueError, "one of 'count', 'tfidf'; got 'idf'"),
        ({"ngram_range": (0, 1)}, ValueError, r"1 <= shortest <= longest; got \(0, 1\)"),
        ({"ngram_range": (2, 1)}, ValueError, r"1 <= shortest <= longest; got \(2, 1\)"),
        ({"ngram_range": 2}, ValueError, r"such as \(1, 2\); got 2"),
        ({"ngram_range": (1, 2.0)}, TypeError, "two integers"),
        ({"phrases": 3}, TypeError, "phrases must be a Vocabulary.*got int"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"vocabulary": ["a"], "max_features": 3}, ValueError, "max_features must be None when"),
        ({"vocabulary": ["a"], "min_df": 2}, ValueError, "min_df must be 1 when a vocabulary"),
        ({"vocabulary": ["a"], "min_df": 1.0}, ValueError, "min_df must be 1 when .*got 1.0"),
        (
            {"vocabulary": {"a": 0}},
            TypeError,
            "vocabulary is not a valid vocabulary.*order of the columns",
        ),
        ({"normalizer": "porter"}, ValueError, "normalizer must be one of"),
    ],
)
def test_invalid_options_raise(params, error, message):
    with pytest.raises(error, match=message):
        BagOfWords(**params).fit(["some words here", "some more"])


def test_invalid_vocabulary_keeps_the_parts_of_its_error():
    with pytest.raises(ParameterTypeError) as found:
        BagOfWords(vocabulary={"a", "b"}).fit(["a"])
    assert found.value.parameter == "vocabulary"
    assert str(found.value).startswith("vocabulary is not a valid vocabulary: words must be in the")
    assert str(found.value).endswith("got set. Pass a list, such as sorted(words).")


def test_fitted_and_given_vocabularies_behave_alike():
    learnt = BagOfWords(None).fit(["b a"]).vocabulary_
    given = Vocabulary(["a", "b"])
    assert learnt == given
    assert hash(learnt) == hash(given)
    assert learnt.lookup(["b", "x"]).tolist() == [1, -1]
    assert "a" in learnt
    assert learnt.index("b") == 1


def test_normalizers_can_be_given_by_name():
    text = "The thinkings of running foxes"
    assert BagOfWords(normalizer="wordnet").words(text) == ["think", "run", "fox"]
    pytest.importorskip("Stemmer", reason="the extra `stem` is not installed")
    assert BagOfWords(normalizer="stem").words(text) == ["think", "run", "fox"]


def test_stop_lists_are_split_by_the_tokenizer():
    letters = re.compile(r"[a-z]+")
    assert BagOfWords(tokenizer=letters).words("I don't care, we're fine") == ["care", "fine"]


def test_stop_words_are_read_from_a_file(tmp_path):
    file = tmp_path / "stop.txt"
    file.write_text("# mine\npress\n", encoding="utf-8")
    assert BagOfWords(file).words("the press") == ["the"]


def test_read_documents_are_accepted_as_texts():
    from textkin.reading import read

    found = read([{"id": "a", "text": "the press"}, {"id": "b", "text": "media media"}])
    estimator = BagOfWords()
    assert estimator.fit_transform(found).toarray().tolist() == [[0, 1], [2, 0]]
    assert estimator.transform(found).toarray().tolist() == [[0, 1], [2, 0]]


def test_vocabulary_that_tokenizer_cannot_produce_warns():
    with pytest.warns(
        VocabularyWarning, match=r"2 of 4 .*'Press' \('press'\), 'ﬁne' \('fine'\)\. "
    ):
        BagOfWords(vocabulary=["Press", "media", "the", "ﬁne"]).transform(["the press"])
    BagOfWords(vocabulary=["Press"], lowercase=False).transform(["the press"])
    BagOfWords(vocabulary=["New_York", "well-known"], phrases=["New_York"]).transform(["x"])


@pytest.mark.parametrize("method", ["fit", "fit_transform", "transform"])
def test_vocabulary_warning_points_to_the_caller(method):
    with pytest.warns(VocabularyWarning) as told:
        getattr(BagOfWords(vocabulary=["Press"]), method)(["the press"])
    assert told[0].filename == __file__


def test_prepared_lists_are_reused_until_parameters_change():
    calls = []

    def split(text):
        calls.append(text)
        return text.split()

    estimator = BagOfWords(["the"], tokenizer=split, phrases=["a b"])
    assert estimator.words("the a b") == ["a b"]
    assert calls == ["the", "a b", "the a b"]
    estimator.words("x")
    assert calls[3:] == ["x"]
    assert estimator.set_params(stop_words=None).words("the") == ["the"]
    assert estimator.set_params(phrases=None).words("a b") == ["a", "b"]
    restored = pickle.loads(pickle.dumps(BagOfWords(phrases=["a_b"]).fit(["a b c d"])))
    assert restored.words("a b") == ["a_b"]


def test_passages_are_accepted_as_texts():
    from textkin.reading import paragraphs

    assert BagOfWords(None).fit_transform(paragraphs("one two\n\ntwo")).sum() == 3


def test_huge_max_features_is_accepted():
    assert BagOfWords(None, max_features=2**70).fit(["a"]).vocabulary_.words == ("a",)


def test_phrases_can_be_a_set():
    assert BagOfWords(phrases={"New_York", "new-york"}).words("new york") == ["New_York"]
