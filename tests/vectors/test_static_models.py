"""Static models: word vectors equal the model's own vectors."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from safetensors.numpy import save_file

from textkin import Pooling
from textkin.vectors import WordVectors

tokenizers = pytest.importorskip("tokenizers")

TOKENS = ["[PAD]", "[UNK]", "the", "cat", "##s", "sit", "##ting", "un", "##known"]


def word_piece():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {token: i for i, token in enumerate(TOKENS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]"])
    return tokenizer


def unigram():
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = [("<unk>", -9.0), ("\u2581the", -1.0), ("\u2581cat", -2.0), ("s", -3.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def table(rows, seed=1):
    return np.random.default_rng(seed).normal(size=(rows, 4)).astype(np.float32)


def save_model2vec(folder, tokenizer, normalize=False, **tensors):
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"normalize": normalize}))
    return folder


def test_whole_words_and_custom_words(tmp_path):
    embeddings = table(len(TOKENS))
    folder = save_model2vec(tmp_path / "m", word_piece(), embeddings=embeddings)
    vectors = WordVectors.load(folder)
    assert vectors.words == ("the", "cat", "sit", "un")
    assert_allclose(vectors["cat"], embeddings[3])
    given = WordVectors.load(folder, words=["Cats", "sitting", "unknown", "qqq"])
    assert given.words == ("Cats", "sitting", "unknown"), "of qqq no token is known"
    assert_allclose(given["Cats"], embeddings[[3, 4]].mean(axis=0), rtol=1e-6)
    assert_allclose(given["unknown"], embeddings[[7, 8]].mean(axis=0), rtol=1e-6)
    assert WordVectors.load(folder, max_words=2).words == ("the", "cat")
    some = WordVectors.load(folder, words=["qqq", "cat", "zzz", "the", "sit"], max_words=2)
    assert some.words == ("cat", "the"), "words that are left out do not count"
    assert WordVectors.load(folder, format="static").words == vectors.words
    with pytest.raises(ValueError, match="at least one of the words"):
        WordVectors.load(folder, words=["qqq"])


def test_weights_mapping_and_unit_length(tmp_path):
    embeddings = table(3)
    mapping = np.array([0, 0, 1, 2, 1, 0, 2, 1, 0])
    weights = np.linspace(0.5, 2, len(TOKENS))
    folder = save_model2vec(
        tmp_path / "m",
        word_piece(),
        normalize=True,
        embeddings=embeddings,
        mapping=mapping,
        weights=weights,
    )
    expected = embeddings[mapping[3]] * weights[3] / 2 + embeddings[mapping[4]] * weights[4] / 2
    found = WordVectors.load(folder, words=["cats"])["cats"]
    assert_allclose(found, expected / np.linalg.norm(expected), rtol=1e-5)


def test_token_sums_pool_to_the_embedding_of_the_model(tmp_path):
    """A mean of unit word vectors loses the token weights; sums of tokens keep them."""
    embeddings = table(len(TOKENS)) * np.arange(1, len(TOKENS) + 1)[:, np.newaxis]
    folder = save_model2vec(
        tmp_path / "m", word_piece(), normalize=True, embeddings=embeddings.astype(np.float32)
    )
    text = "The cats sitting unknown"
    ids = word_piece().encode(text, add_special_tokens=False).ids
    expected = embeddings[ids].mean(axis=0)
    expected /= np.linalg.norm(expected)
    words = text.split()
    for policy, agrees in (("sum", True), ("mean", False)):
        vectors = WordVectors.load(folder, words=words, token_vectors=policy)
        pooled = Pooling(vectors, stop_words=None).fit_transform([text])[0]
        pooled /= np.linalg.norm(pooled)
        assert np.allclose(pooled, expected, atol=1e-6) is agrees
    with pytest.raises(ValueError, match="token_vectors must be one of 'mean', 'sum'"):
        WordVectors.load(folder, token_vectors="max")


def test_sentencepiece_tokens(tmp_path):
    embeddings = table(4)
    folder = save_model2vec(tmp_path / "m", unigram(), embeddings=embeddings)
    vectors = WordVectors.load(folder)
    assert vectors.words == ("the", "cat")
    assert_allclose(vectors["the"], embeddings[1])
    assert_allclose(
        WordVectors.load(folder, words=["cats"])["cats"],
        embeddings[[2, 3]].mean(axis=0),
        rtol=1e-6,
    )


def test_sentence_transformers_layout(tmp_path):
    """Nested folder, other table name, unknown tokens counted, normalization module."""
    embeddings = table(len(TOKENS))
    nested = tmp_path / "st" / "0_StaticEmbedding"
    nested.mkdir(parents=True)
    word_piece().save(str(nested / "tokenizer.json"))
    save_file({"embedding.weight": embeddings}, nested / "model.safetensors")
    modules = [
        {"type": "sentence_transformers.models.StaticEmbedding"},
        {"type": "sentence_transformers.models.Normalize"},
    ]
    (tmp_path / "st" / "modules.json").write_text(json.dumps(modules))
    vectors = WordVectors.load(tmp_path / "st", words=["cat", "qqq"])
    assert_allclose(vectors["cat"], embeddings[3] / np.linalg.norm(embeddings[3]), rtol=1e-6)
    assert_allclose(vectors["qqq"], embeddings[1] / np.linalg.norm(embeddings[1]), rtol=1e-6)


@pytest.mark.parametrize("normalize", [False, True])
def test_vectors_equal_model2vec(tmp_path, normalize):
    model2vec = pytest.importorskip("model2vec")
    model = model2vec.StaticModel(table(len(TOKENS)), word_piece(), normalize=normalize)
    model.save_pretrained(tmp_path / "m")
    words = ["cats", "The", "sitting", "unknown"]
    vectors = WordVectors.load(tmp_path / "m", words=words)
    assert_allclose(vectors.matrix, model.encode(words), rtol=1e-5)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"embeddings": table(3)}, "more tokens in its tokenizer than vectors"),
        ({"other": table(9)}, "must have a 2-D tensor 'embeddings'"),
        ({"embeddings": table(9)[0]}, "must have a 2-D tensor 'embeddings'"),
        ({"embeddings": table(9), "mapping": np.arange(9) + 5}, "maps tokens to missing rows"),
        ({"embeddings": table(9), "mapping": table(9)}, "must have a 1-D tensor 'mapping'"),
        ({"embeddings": table(9), "mapping": np.ones(9)}, "has a wrong dtype"),
        (
            {"embeddings": table(9), "weights": np.ones(3)},
            "more tokens in its tokenizer than vectors",
        ),
        ({"embeddings": np.full((9, 2), np.nan)}, "NaN"),
    ],
)
def test_malformed_models_raise(tmp_path, tensors, message):
    folder = save_model2vec(tmp_path / "m", word_piece(), **tensors)
    with pytest.raises(ValueError, match=message):
        WordVectors.load(folder)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"model": {"type": "Nonsense"}}', "\udce9"])
def test_malformed_tokenizers_raise(tmp_path, text):
    folder = save_model2vec(tmp_path / "m", word_piece(), embeddings=table(9))
    (folder / "tokenizer.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=r"tokenizer\.json is no"):
        WordVectors.load(folder)


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    folder = save_model2vec(tmp_path / "m", word_piece(), embeddings=table(9))
    (folder / "model.safetensors").rename(tmp_path / "elsewhere")
    (folder / "model.safetensors").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match=r"has no manifest\.json"):
        WordVectors.load(folder)


def test_hub_snapshot_may_link_to_its_blobs(tmp_path):
    real = save_model2vec(tmp_path / "m", word_piece(), embeddings=table(9))
    snapshot = tmp_path / "models--x" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    blobs = tmp_path / "models--x" / "blobs"
    blobs.mkdir()
    for number, file in enumerate(sorted(real.iterdir())):
        (blobs / str(number)).write_bytes(file.read_bytes())
        (snapshot / file.name).symlink_to(f"../../blobs/{number}")
    assert WordVectors.load(snapshot).words == WordVectors.load(real).words


def test_nested_folder_link_raises(tmp_path):
    real = save_model2vec(tmp_path / "m", word_piece(), embeddings=table(9))
    (tmp_path / "st").mkdir()
    (tmp_path / "st" / "0_StaticEmbedding").symlink_to(real)
    with pytest.raises(ValueError, match=r"has no manifest\.json"):
        WordVectors.load(tmp_path / "st")
