"""OpenAPI description: its examples work, and allowed requests cause no server errors."""

import os

import pytest
from hypothesis import HealthCheck, given, settings

from textkin.web import Settings, create_app
from textkin.web._demo import demo_index
from web.served import TOKEN, client_of, error_of


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


def test_every_route_has_a_description(spec):
    for path, method, described in operations(spec):
        assert described["description"], (method, path)
        assert described["tags"], (method, path)
        for status, answer in described["responses"].items():
            assert answer["description"], (method, path, status)
    assert not [node for node in str(spec).split() if "x-limit" in node]
    asked = spec["components"]["schemas"]["SearchBody"]["properties"]
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


def test_parameters_have_limits_and_names(demo, spec):
    limits = {
        "/api/documents limit": 200,
        "/api/map clusters": 50,
        "/api/clusters n": 50,
        "/api/topics n": 50,
    }
    with client_of(demo) as client:
        stats = client.get("/api/stats").json()
        names = {
            key: [entry["name"] for entry in stats[key]]
            for key in ("rankings", "measures", "representations")
        }
        found, maps = {}, []
        for path, _, described in operations(spec):
            for parameter in described.get("parameters", []):
                key, schema = f"{path} {parameter['name']}", parameter["schema"]
                if key in limits:
                    found[key] = schema["maximum"]
                    told = client.get(path, params={parameter["name"]: limits[key] + 1})
                    assert error_of(told, 422)["field"] == parameter["name"]
                if parameter["name"] == "representation":
                    maps.append(path)
                    assert schema["enum"] == names["representations"]
                    told = client.get(path, params={"representation": "bm25"})
                    assert error_of(told, 422)["field"] == "representation"
    assert found == limits
    assert maps == ["/api/map", "/api/clusters"]
    bodies = spec["components"]["schemas"]
    for name, body in bodies.items():
        kind = "measures" if name == "CompareBody" else "rankings"
        if name.endswith("Body") and "ranking" in body["properties"]:
            assert body["properties"]["ranking"]["enum"] == names[kind], name


def test_names_in_the_description_follow_the_index(index):
    app = create_app(index)
    try:
        before = _ranking_names(app)
        assert "lsi" in before
        index.detach("lsi")
        assert _ranking_names(app) == [name for name in before if name != "lsi"]
    finally:
        app.state.server.close()
    index.close()
    assert (
        "enum" not in app.openapi()["components"]["schemas"]["SearchBody"]["properties"]["ranking"]
    )


def _ranking_names(app):
    return app.openapi()["components"]["schemas"]["SearchBody"]["properties"]["ranking"]["enum"]


@pytest.mark.parametrize(
    ("name", "path", "text", "more"),
    [
        ("FeedbackBody", "/api/feedback", "query", {}),
        ("ExplainBody", "/api/explain", "query", {"document": "shutil.move"}),
        ("ClassifyBody", "/api/classify", "text", {}),
    ],
)
def test_text_or_id_is_required_in_description_and_server(demo, spec, name, path, text, more):
    import jsonschema_rs

    schema = {**spec["components"]["schemas"][name], "components": spec["components"]}
    given = {text: "erase a folder"}, {"id": "shutil.copytree"}
    with client_of(demo) as client:
        for body, valid in [
            ({}, False),
            ({text: None, "id": None}, False),
            (given[0], True),
            (given[1], True),
            ({**given[0], "id": None}, True),
            ({**given[1], text: None}, True),
            (given[0] | given[1], False),
        ]:
            checker = jsonschema_rs.validator_for(schema)
            assert checker.is_valid(body | more) == valid, body
            answer = client.post(path, json=body | more)
            assert answer.status_code == (200 if valid else 422), answer.text


def test_integers_may_be_floats(demo):
    with client_of(demo) as client:
        answers = [client.post("/api/search", json={"query": "file", "k": k}) for k in (2, 2.0)]
        assert answers[0].json()["hits"] == answers[1].json()["hits"]
        for k in (2.5, 1e300, 0.0, "2"):
            told = client.post("/api/search", json={"query": "file", "k": k})
            assert error_of(told, 422)["field"] == "k"


QUICK = settings(
    max_examples=12 if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else 5,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_allowed_requests_cause_no_server_errors(index, writer):
    """A request may fail, but not with a server error or an undescribed response."""
    import schemathesis  # here, because it takes seconds to import

    named = schemathesis.checks
    checks = [
        named.status_code_conformance,
        named.content_type_conformance,
        named.response_schema_conformance,
    ]
    app = create_app(index, settings=Settings(token=TOKEN, hosts=None))
    try:
        schema = schemathesis.openapi.from_asgi("/openapi.json", app)
        tried = [_try(found.ok(), writer, checks) for found in schema.get_all_operations()]
    finally:
        app.state.server.close()
    assert len(tried) == len(operations(app.openapi()))
    assert min(tried) > 0


def _try(operation, headers, checks):
    statuses = []

    @QUICK
    @given(case=operation.as_strategy())
    def send(case):
        answer = case.call(headers=headers)
        statuses.append(answer.status_code)
        assert answer.status_code < 500 or answer.status_code == 503, answer.text
        if answer.status_code == 422:
            error = answer.json()["error"]
            assert error["code"] == "wordless" or error["field"] == "where", error
        case.validate_response(answer, checks=checks)

    send()
    return len(statuses)
