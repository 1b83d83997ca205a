"""Collection of five documents that replaces the retrieval collections."""

import gzip
import json

import pytest

SETS = ("med", "cran", "cacm", "time", "lisa")


@pytest.fixture
def tiny(tmp_path):
    documents = ["cats and dogs", "dogs bark", "blood pressure", "heart and blood", ""]
    for name in SETS:
        folder = tmp_path / "retrieval" / name
        folder.mkdir(parents=True)
        rows = [{"id": f"d{i}", "title": "", "text": text} for i, text in enumerate(documents)]
        queries = [("q1", "dogs"), ("q2", "blood"), ("q3", "unjudged"), ("q4", "hearts")]
        files = {
            "docs.jsonl.gz": [json.dumps(row) for row in rows],
            "queries.jsonl.gz": [json.dumps({"id": q, "text": text}) for q, text in queries],
            "qrels.tsv.gz": ["q1\td0\t1", "q1\td1\t2", "q2\td2\t1", "q2\td0\t0", "q4\td3\t1"],
        }
        for file, lines in files.items():
            (folder / file).write_bytes(gzip.compress("\n".join(lines).encode()))
    return tmp_path
