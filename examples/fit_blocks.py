"""Fit a model to documents in files, one file at a time; here, or on a Dask cluster.

python examples/fit_blocks.py
python examples/fit_blocks.py --scheduler tcp://10.0.0.1:8786 --folder /shared/folder
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

import textkin as tk
from textkin.models import fit_blocks
from textkin.reading import standard_library_docstrings

parser = argparse.ArgumentParser()
parser.add_argument("--scheduler", help="address of a Dask scheduler (default: threads)")
parser.add_argument("--folder", help="folder that all workers see")
asked = parser.parse_args()

# Bags of words in files, as for a larger corpus: no process needs all of them at once.
texts = [found.text for found in standard_library_docstrings()][:1500]
counter = tk.BagOfWords(min_df=3)
bags = counter.fit_transform(texts)

with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
    blocks = []
    for start in range(0, bags.shape[0], 400):
        blocks.append(Path(folder) / f"{start}.npz")
        sparse.save_npz(blocks[-1], bags[start : start + 400])
    print(f"{bags.shape[0]} documents, {bags.shape[1]} words, {len(blocks)} files")

    where = {"executor": asked.scheduler, "folder": folder} if asked.scheduler else {"n_jobs": 2}
    tfidf = fit_blocks(tk.TfIdf(), blocks, **where)
    plsa = fit_blocks(tk.PLSA(8, tol=1e-3, random_state=0), blocks, **where)

print(f"idf equal to a fit of one array: {np.array_equal(tfidf.idf_, tk.TfIdf().fit(bags).idf_)}")
whole = tk.PLSA(8, tol=1e-3, random_state=0).fit(bags)
print(f"P(w|z) differs by at most {np.abs(plsa.components_ - whole.components_).max():.0e}\n")
print(plsa.topics(counter.vocabulary_, n_words=6))
