"""The web application: its routes, and what they share."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeAlias, TypeVar

from fastapi import Depends, FastAPI, Header, Query, Request, Response

import textkin
from textkin.index import Index
from textkin.web import _answers as answers
from textkin.web import _overview_answers as overviews
from textkin.web import _requests as requests
from textkin.web._described import describe
from textkin.web._documents import (
    add,
    check_writer,
    delete,
    list_documents,
    replace_document,
    show,
)
from textkin.web._errors import add_errors
from textkin.web._explaining import compare, explain
from textkin.web._facts import stats
from textkin.web._gate import Gate
from textkin.web._jobs import Jobs, Progress, Wanted
from textkin.web._overview import overview
from textkin.web._pages import add_pages
from textkin.web._problems import Problem, problem_of
from textkin.web._searching import classify, feedback, search
from textkin.web._settings import Settings
from textkin.web._store import Store
from textkin.web._topics import topics
from textkin.web._working import Work

__all__ = ["made_app"]

T = TypeVar("T")

Responses: TypeAlias = dict[int | str, dict[str, Any]]

_FAILURES: Responses = {
    400: {"model": answers.Failure, "description": "Not a request that this server answers."},
    413: {"model": answers.Failure, "description": "More than a limit allows."},
    422: {"model": answers.Failure, "description": "A value that makes no sense."},
    503: {"model": answers.Failure, "description": "Too slow, or too busy."},
}
_MISSING: Responses = {404: {"model": answers.Failure, "description": "No document has the id."}}
_WRITING: Responses = {
    401: {"model": answers.Failure, "description": "The token is missing or another."},
    403: {"model": answers.Failure, "description": "This server only reads."},
}
_COMPUTING: Responses = {
    202: {"model": overviews.Computing, "description": "Being computed; ask again."}
}

DocumentId = Annotated[
    str,
    Query(
        min_length=1,
        max_length=10_000,
        description="The id of a document.",
        examples=["shutil.rmtree"],
    ),
]
Clusters = Annotated[int, Query(ge=1, description="How many clusters.")]
Representation = Annotated[
    str,
    Query(max_length=200, description="One of `representations` of `GET /api/stats`."),
]


class Server:
    """What the routes of one application share.

    Parameters
    ----------
    index : Index
        Open.
    settings : Settings
        Limits and who may write.
    """

    def __init__(self, index: Index, settings: Settings) -> None:
        self.store = Store(index, settings)
        self.work = Work(settings.limits)
        self.jobs = Jobs()

    async def do(self, request: Request, work: Callable[[Store], T]) -> T:
        """Answer in one of the threads."""
        try:
            return await self.work.run(request, lambda: work(self.store))
        except Problem:
            raise
        except Exception as error:
            raise problem_of(error) from error

    async def job(self, request: Request, name: str, wanted: Callable[[Store], Wanted]) -> Response:
        """Give what was computed, or say how far that is."""
        found = self.jobs.ask(await self.do(request, wanted))
        if isinstance(found, Progress):
            told = overviews.Computing(
                status="computing", done=found.done, total=found.total, state=found.state
            )
            return Response(told.model_dump_json(), 202, media_type="application/json")
        return Response(found.answers[name], media_type="application/json")

    def close(self) -> None:
        """End all work, and close what was opened here."""
        self.work.close()
        self.jobs.close()
        self.store.close()


def made_app(index: Index, settings: Settings) -> FastAPI:
    """Make the application; see `create_app`."""
    server = Server(index, settings)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            server.close()

    app = FastAPI(
        title="textkin",
        version=textkin.__version__,
        summary="How near are two texts, which documents are nearest to this one, and why.",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    app.state.server = server
    _add_reading(app, server)
    _add_overview(app, server)
    _add_writing(app, server)
    add_pages(app)
    add_errors(app)
    describe(app, settings.limits)
    app.add_middleware(Gate, settings=settings)
    return app


def _add_reading(app: FastAPI, server: Server) -> None:
    @app.get("/api/health", tags=["server"])
    async def get_health() -> answers.Health:
        """Say that the server answers."""
        return answers.Health(status="ok", version=textkin.__version__)

    @app.get("/api/stats", tags=["server"], responses=_FAILURES)
    async def get_stats(request: Request) -> answers.Stats:
        """Say what is in the index, and what may be asked."""
        return await server.do(request, stats)

    @app.post("/api/search", tags=["search"], responses=_FAILURES | _MISSING)
    async def post_search(request: Request, asked: requests.Searching) -> answers.Found:
        """Find the documents that are nearest to a text."""
        return await server.do(request, lambda store: search(store, asked))

    @app.post("/api/similar", tags=["search"], responses=_FAILURES | _MISSING)
    async def post_similar(request: Request, asked: requests.Similar) -> answers.Found:
        """Find the documents that are nearest to one of them."""
        return await server.do(request, lambda store: search(store, asked))

    @app.post("/api/feedback", tags=["search"], responses=_FAILURES | _MISSING)
    async def post_feedback(request: Request, asked: requests.Feedback) -> answers.FeedbackFound:
        """Move a query towards documents that were right, and see the ranking before and after."""
        return await server.do(request, lambda store: feedback(store, asked))

    @app.post("/api/explain", tags=["why"], responses=_FAILURES | _MISSING)
    async def post_explain(request: Request, asked: requests.Explaining) -> answers.Explanation:
        """Say why a document has its score: the parts that sum to it."""
        return await server.do(request, lambda store: explain(store, asked))

    @app.post("/api/compare", tags=["why"], responses=_FAILURES | _MISSING)
    async def post_compare(request: Request, asked: requests.Comparing) -> answers.Explanation:
        """Say how near two texts are, and why."""
        return await server.do(request, lambda store: compare(store, asked))

    @app.post("/api/classify", tags=["search"], responses=_FAILURES | _MISSING)
    async def post_classify(request: Request, asked: requests.Classifying) -> answers.Classified:
        """Give a text the label that its nearest documents vote for."""
        return await server.do(request, lambda store: classify(store, asked))

    @app.get("/api/documents", tags=["documents"], responses=_FAILURES)
    async def get_documents(
        request: Request,
        offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
        limit: Annotated[int, Query(ge=1)] = 20,
        where: Annotated[
            str,
            Query(
                json_schema_extra={"x-limit": "where"},
                description="A filter, such as `year >= 2010`.",
                examples=["label = shutil"],
            ),
        ] = "",
    ) -> answers.DocumentList:
        """List documents in the order in which they were added."""
        return await server.do(request, lambda store: list_documents(store, offset, limit, where))

    @app.get("/api/document", tags=["documents"], responses=_FAILURES | _MISSING)
    async def get_document(request: Request, id: DocumentId) -> answers.StoredDocument:
        """Show a document."""
        return await server.do(request, lambda store: show(store, id))


def _add_overview(app: FastAPI, server: Server) -> None:
    computed = _FAILURES | _COMPUTING

    @app.get(
        "/api/map", tags=["overview"], response_model=overviews.MapOfDocuments, responses=computed
    )
    async def get_map(
        request: Request, by: Representation = "tfidf", clusters: Clusters = 8
    ) -> Response:
        """Place all documents in the plane; near ones lie near."""
        return await server.job(
            request, "map", lambda store: overview(store, by, clusters, "clusters")
        )

    @app.get(
        "/api/clusters", tags=["overview"], response_model=overviews.Clusters, responses=computed
    )
    async def get_clusters(
        request: Request, by: Representation = "tfidf", n: Clusters = 8
    ) -> Response:
        """Put documents into groups, the same as on the map, and say what each is about."""
        return await server.job(request, "clusters", lambda store: overview(store, by, n, "n"))

    @app.get("/api/topics", tags=["overview"], response_model=overviews.Topics, responses=computed)
    async def get_topics(
        request: Request, n: Annotated[int, Query(ge=1, description="How many topics.")] = 10
    ) -> Response:
        """Say what the collection is about."""
        return await server.job(request, "topics", lambda store: topics(store, n))


def _add_writing(app: FastAPI, server: Server) -> None:
    def writer(
        authorization: Annotated[
            str | None, Header(description="`Bearer TOKEN`, with the token of this server.")
        ] = None,
    ) -> None:
        check_writer(server.store, authorization)

    may_write = [Depends(writer)]
    conflict: Responses = {
        409: {"model": answers.Failure, "description": "An id is there already."}
    }

    @app.post(
        "/api/documents",
        tags=["documents"],
        dependencies=may_write,
        responses=_FAILURES | _WRITING | conflict,
    )
    async def post_documents(request: Request, asked: requests.Adding) -> answers.Added:
        """Add documents, all of them or none."""
        return await server.do(request, lambda store: add(store, asked))

    @app.put(
        "/api/document",
        tags=["documents"],
        dependencies=may_write,
        responses=_FAILURES | _WRITING,
    )
    async def put_document(
        request: Request, id: DocumentId, asked: requests.Replacing
    ) -> answers.Updated:
        """Add a document, or replace the one with its id."""
        return await server.do(request, lambda store: replace_document(store, id, asked))

    @app.delete(
        "/api/document",
        tags=["documents"],
        dependencies=may_write,
        responses=_FAILURES | _WRITING | _MISSING,
    )
    async def delete_document(request: Request, id: DocumentId) -> answers.Deleted:
        """Delete a document."""
        return await server.do(request, lambda store: delete(store, id))
