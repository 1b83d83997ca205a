"""The description of the API: its examples work, and requests that it allows break nothing."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from textkin.web import Settings, create_app
from textkin.web._demo import demo_index
from web.served import TOKEN, client_of


@pytest.fixture(scope="module")
def demo():
    with demo_index() as index:
        yield index


@pytest.fixture(scope="module")
def spec(demo):
    return create_app(demo, settings=Settings(token=TOKEN)).openapi()


def operations(spec):
    return [
        (path, method, described)
        for path, methods in spec["paths"].items()
        for method, described in methods.items()
    ]


def test_every_route_is_described(spec):
    for path, method, described in operations(spec):
        assert described["description"], (method, path)
        assert described["tags"], (method, path)
        for status, answer in described["responses"].items():
            assert answer["description"], (method, path, status)
    assert not [node for node in str(spec).split() if "x-limit" in node]
    asked = spec["components"]["schemas"]["Searching"]["properties"]
    assert asked["k"]["maximum"] == 200
    assert asked["query"]["maxLength"] == 20_000


def test_every_example_works(demo, spec):
    tried = 0
    with client_of(demo) as client:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        for path, method, described in operations(spec):
            query = {
                one["name"]: one["schema"]["examples"][0]
                for one in described.get("parameters", [])
                if "examples" in one["schema"]
            }
            bodies = [None]
            if "requestBody" in described:
                content = described["requestBody"]["content"]["application/json"]
                name = content["schema"]["$ref"].rsplit("/", 1)[1]
                bodies = spec["components"]["schemas"][name]["examples"]
            for body in bodies:
                answer = client.request(method, path, params=query, json=body, headers=headers)
                assert answer.status_code in (200, 202), (method, path, body, answer.text)
                tried += 1
    assert tried >= len(operations(spec))


CHECKS = [
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]
QUICK = settings(
    max_examples=12,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_requests_that_the_description_allows_break_nothing(index, writer):
    """Any of them may be refused; none ends in an error of the server or an undescribed answer."""
    app = create_app(index, settings=Settings(token=TOKEN, hosts=None))
    try:
        schema = schemathesis.openapi.from_asgi("/openapi.json", app)
        tried = [_try(found.ok(), writer) for found in schema.get_all_operations()]
    finally:
        app.state.server.close()
    assert len(tried) == len(operations(app.openapi()))
    assert min(tried) > 0


def _try(operation, headers):
    statuses = []

    @QUICK
    @given(case=operation.as_strategy())
    def send(case):
        answer = case.call(headers=headers)
        statuses.append(answer.status_code)
        assert answer.status_code < 500 or answer.status_code == 503, answer.text
        case.validate_response(answer, checks=CHECKS)

    send()
    return len(statuses)
