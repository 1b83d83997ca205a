"""Draw the figures of docs/explanations.md into a folder, such as docs/images."""

import argparse
import tempfile
from pathlib import Path

from sklearn.pipeline import make_pipeline

import textkin as tk
from textkin.learn import NearestNeighborClassifier

TEXTS = {
    "illinois": "Obama speaks to the media in Illinois",
    "chicago": "The President greets the press in Chicago",
    "japan": "The band gave a concert in Japan",
    "tour": "Fans sang at the concert of the band in Chicago",
    "bank": "The bank raised its rates and shares fell",
    "market": "Investors sold shares as the market fell",
}
LABELS = ["politics", "politics", "music", "music", "money", "money"]
QUERY = "The President speaks to fans in Chicago"


def pictures(folder: Path) -> dict[str, str]:
    """Return each figure by its name."""
    found = tk.compare(TEXTS["illinois"], QUERY)
    knn = NearestNeighborClassifier(n_neighbors=4, vote="distance")
    evidence = knn.fit(list(TEXTS.values()), LABELS).evidence([QUERY])[0]
    drawn = {"aligned": found.aligned().to_svg(), "evidence": evidence.to_svg()}
    with tk.Index.create(folder / "papers.kin", stop_words="smart", language=None) as index:
        index.add([{"id": id, "text": text} for id, text in TEXTS.items()])
        index.attach("lsi", make_pipeline(tk.TfIdf(), tk.LSI(3, random_state=0)))
        for by in ("bm25", "rwmd", "lsi", "hybrid"):
            hit = index.search(QUERY, ranking=by)[0]
            title = f"{by}: {hit.score:.3g}, {hit.id}"
            drawn[by] = hit.explain().to_svg(title=title, limit=4)
    return drawn


def main() -> None:
    """Write the figures to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    target = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as folder:
        for name, svg in pictures(Path(folder)).items():
            (target / f"explain-{name}.svg").write_text(svg + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
