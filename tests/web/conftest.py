"""Small index behind a server; requests go directly to the application, without a network."""

import pytest
from sklearn.pipeline import make_pipeline

from textkin import LSI, Index, TfIdf
from web.served import RECORDS, TOKEN, client_of


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "p.kin", language=None) as index:
        index.add(RECORDS)
        index.attach("lsi", make_pipeline(TfIdf(), LSI(3, random_state=0)))
        yield index


@pytest.fixture
def client(index):
    with client_of(index) as client:
        yield client


@pytest.fixture
def writer():
    return {"Authorization": f"Bearer {TOKEN}"}
