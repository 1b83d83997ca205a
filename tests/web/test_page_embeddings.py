"""Page in a browser: embeddings whose encoder the server does not have."""

import numpy as np
import pytest

from web.browser import serving, small_index
from web.small_collection import DOCUMENTS

pytest_plugins = ["web.page_fixtures"]


@pytest.fixture
def embedded(tmp_path):
    with small_index(tmp_path, DOCUMENTS) as index:
        index.attach("minilm", embeddings=np.random.default_rng(0).normal(size=(len(index), 4)))
        with serving(index) as address:
            yield address


def test_similar_documents_need_no_encoder(embedded, open_page):
    page = open_page(f"{embedded}/?like=space%2F6&ranking=minilm")
    page.wait_for_selector(".hit")
    assert page.inner_text("option[value=minilm]") == "minilm (documents only)"
    assert "so a query must be a document" in page.inner_text("#ranking-about")
    assert page.locator(".hit").count() == 10


def test_text_query_is_explained(embedded, open_page):
    page = open_page(f"{embedded}/?q=rocket&ranking=minilm", expected=("422",))
    page.wait_for_selector("[role=alert]")
    assert "does not have the encoder" in page.inner_text("[role=alert]")
