"""Search an index by a static model of model2vec.

Needs ``pip install model2vec``. Without it, the example prints a message and ends. The model here
is made from the built-in word vectors, so that nothing is downloaded; usually, you load one::

    model = StaticModel.from_pretrained("minishlab/potion-base-8M")
"""

import sys
import tempfile

import numpy as np

import textkin as tk

try:
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
except ImportError as error:
    print(f"Skipped: {error.name} is not installed. Run pip install model2vec.")
    sys.exit(0)

vectors = tk.WordVectors.builtin("distilled")
words = {"[UNK]": 0, **{word: at for at, word in enumerate(vectors.words, start=1)}}
tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.Lowercase()
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
table = np.vstack([np.zeros((1, vectors.matrix.shape[1]), np.float32), vectors.matrix])
model = StaticModel(table, tokenizer, config={"normalize": True}, normalize=True)

with tempfile.TemporaryDirectory() as folder:
    with tk.Index.create(f"{folder}/notes.kin") as index:
        index.add(
            [
                {"id": "bank", "text": "The bank raised its interest rates."},
                {"id": "river", "text": "He sat at the river and fished."},
                {"id": "cat", "text": "A kitten sleeps on the sofa."},
            ]
        )
        index.attach("potion", encoder=model)
        hits = index.search("the cat is asleep", ranking="potion", k=2)
        print(hits)
        print(hits[0].explain())
    with tk.Index.open(f"{folder}/notes.kin", models={"potion": model}) as index:
        index.add([{"id": "loan", "text": "Loans become expensive."}])
        print(index.similar("bank", ranking="potion", k=1).ids)
