"""Routes of the web application, and their shared state."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeAlias, TypeVar

from fastapi import Depends, FastAPI, Header, Query, Request, Response

import textkin
from textkin.index import Index
from textkin.web import _answers as answers
from textkin.web import _requests as requests
from textkin.web._documents import (
    add,
    check_writer,
    delete,
    list_documents,
    replace_document,
    show,
)
from textkin.web._errors import Problem, add_errors, problem_of
from textkin.web._explain import compare, explain
from textkin.web._index import ServedIndex, known_names, stats
from textkin.web._jobs import JobProgress, JobRequest, Jobs
from textkin.web._limits import Settings
from textkin.web._middleware import RequestMiddleware
from textkin.web._openapi import describe
from textkin.web._overview import overview, topics
from textkin.web._pages import add_pages
from textkin.web._search import classify, feedback, search
from textkin.web._worker_pool import WorkerPool

__all__ = ["made_app"]

T = TypeVar("T")

Responses: TypeAlias = dict[int | str, dict[str, Any]]

_FAILURES: Responses = {
    400: {"model": answers.Failure, "description": "Invalid request."},
    413: {"model": answers.Failure, "description": "The request exceeds a limit."},
    422: {"model": answers.Failure, "description": "Invalid value."},
    503: {"model": answers.Failure, "description": "Timeout, or server busy."},
}
_MISSING: Responses = {404: {"model": answers.Failure, "description": "No document has the ID."}}
_WRITING: Responses = {
    401: {"model": answers.Failure, "description": "The token is missing or wrong."},
    403: {"model": answers.Failure, "description": "The server is read-only."},
}
_COMPUTING: Responses = {
    202: {"model": answers.ProgressAnswer, "description": "In progress; repeat the request."}
}

DocumentId = Annotated[
    str,
    Query(
        min_length=1,
        max_length=10_000,
        description="ID of the document.",
        examples=["shutil.rmtree"],
    ),
]
Clusters = Annotated[
    int, Query(ge=1, description="Number of clusters.", json_schema_extra={"x-limit": "clusters"})
]
Representation = Annotated[
    str,
    Query(
        max_length=200,
        description="One of `representations` of `GET /api/stats`.",
        json_schema_extra={"x-names": "representations"},
    ),
]


class Server:
    """State shared by the routes of an application.

    Parameters
    ----------
    index : Index
        Open index.
    settings : Settings
        Limits and write token.
    """

    def __init__(self, index: Index, settings: Settings) -> None:
        self.served = ServedIndex(index, settings)
        self.work = WorkerPool(settings.limits)
        self.jobs = Jobs()

    async def do(self, request: Request, work: Callable[[ServedIndex], T]) -> T:
        """Run a computation in a worker thread, and return its result."""
        try:
            return await self.work.run(request, lambda: work(self.served))
        except Problem:
            raise
        except Exception as error:
            raise problem_of(error) from error

    async def job(
        self, request: Request, name: str, wanted: Callable[[ServedIndex], JobRequest]
    ) -> Response:
        """Return the result of a long computation, or its progress."""
        found = self.jobs.ask(await self.do(request, wanted))
        if isinstance(found, JobProgress):
            told = answers.ProgressAnswer(
                status="computing", done=found.done, total=found.total, state=found.state
            )
            return Response(told.model_dump_json(), 202, media_type="application/json")
        return Response(found.answers[name], media_type="application/json")

    def close(self) -> None:
        """Stop all work."""
        self.work.close()
        self.jobs.close()


def made_app(index: Index, settings: Settings) -> FastAPI:
    """Create the application; see `create_app`."""
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
        summary="Compare texts, find similar documents, and explain the results.",
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
    describe(app, settings.limits, lambda: known_names(server.served.reader()))
    app.add_middleware(RequestMiddleware, settings=settings)
    return app


def _add_reading(app: FastAPI, server: Server) -> None:
    @app.get("/api/health", tags=["server"])
    async def get_health() -> answers.HealthAnswer:
        """Report that the server is running."""
        return answers.HealthAnswer(status="ok", version=textkin.__version__)

    @app.get("/api/stats", tags=["server"], responses=_FAILURES)
    async def get_stats(request: Request) -> answers.StatsAnswer:
        """Return the contents of the index, and the available rankings, measures, and filters."""
        return await server.do(request, stats)

    @app.post("/api/search", tags=["search"], responses=_FAILURES | _MISSING)
    async def post_search(request: Request, body: requests.SearchBody) -> answers.SearchAnswer:
        """Find the documents that best match a text."""
        return await server.do(request, lambda served: search(served, body))

    @app.post("/api/similar", tags=["search"], responses=_FAILURES | _MISSING)
    async def post_similar(request: Request, body: requests.SimilarBody) -> answers.SearchAnswer:
        """Find the documents most similar to a document of the index."""
        return await server.do(request, lambda served: search(served, body))

    @app.post("/api/feedback", tags=["search"], responses=_FAILURES | _MISSING)
    async def post_feedback(
        request: Request, body: requests.FeedbackBody
    ) -> answers.FeedbackAnswer:
        """Refine a query by feedback, and return the hits before and after."""
        return await server.do(request, lambda served: feedback(served, body))

    @app.post("/api/explain", tags=["why"], responses=_FAILURES | _MISSING)
    async def post_explain(
        request: Request, body: requests.ExplainBody
    ) -> answers.ExplanationAnswer:
        """Explain the score of a document: return the parts that sum to it."""
        return await server.do(request, lambda served: explain(served, body))

    @app.post("/api/compare", tags=["why"], responses=_FAILURES | _MISSING)
    async def post_compare(
        request: Request, body: requests.CompareBody
    ) -> answers.ExplanationAnswer:
        """Compare two texts, and explain the score."""
        return await server.do(request, lambda served: compare(served, body))

    @app.post("/api/classify", tags=["search"], responses=_FAILURES | _MISSING)
    async def post_classify(request: Request, body: requests.ClassifyBody) -> answers.VoteAnswer:
        """Label a text by the votes of its nearest documents."""
        return await server.do(request, lambda served: classify(served, body))

    @app.get("/api/documents", tags=["documents"], responses=_FAILURES)
    async def get_documents(
        request: Request,
        offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
        limit: Annotated[int, Query(ge=1, json_schema_extra={"x-limit": "k"})] = 20,
        where: Annotated[
            str,
            Query(
                json_schema_extra={"x-limit": "where"},
                description="A filter, such as `year >= 2010`.",
                examples=["label = shutil"],
            ),
        ] = "",
    ) -> answers.DocumentsAnswer:
        """List documents in the order of insertion."""
        return await server.do(request, lambda served: list_documents(served, offset, limit, where))

    @app.get("/api/document", tags=["documents"], responses=_FAILURES | _MISSING)
    async def get_document(request: Request, id: DocumentId) -> answers.DocumentAnswer:
        """Return a document."""
        return await server.do(request, lambda served: show(served, id))


def _add_overview(app: FastAPI, server: Server) -> None:
    computed = _FAILURES | _COMPUTING

    @app.get("/api/map", tags=["overview"], response_model=answers.MapAnswer, responses=computed)
    async def get_map(
        request: Request, representation: Representation = "tfidf", clusters: Clusters = 8
    ) -> Response:
        """Return a map of all documents; similar documents are close to each other."""
        return await server.job(
            request, "map", lambda served: overview(served, representation, clusters, "clusters")
        )

    @app.get(
        "/api/clusters",
        tags=["overview"],
        response_model=answers.ClustersAnswer,
        responses=computed,
    )
    async def get_clusters(
        request: Request, representation: Representation = "tfidf", n: Clusters = 8
    ) -> Response:
        """Group documents into the clusters of the map, with typical words of each."""
        return await server.job(
            request, "clusters", lambda served: overview(served, representation, n, "n")
        )

    @app.get(
        "/api/topics", tags=["overview"], response_model=answers.TopicsAnswer, responses=computed
    )
    async def get_topics(
        request: Request,
        n: Annotated[
            int,
            Query(ge=1, description="Number of topics.", json_schema_extra={"x-limit": "topics"}),
        ] = 10,
    ) -> Response:
        """Return the topics of the collection."""
        return await server.job(request, "topics", lambda served: topics(served, n))


def _add_writing(app: FastAPI, server: Server) -> None:
    def writer(
        authorization: Annotated[
            str | None, Header(description="`Bearer TOKEN`, with the token of this server.")
        ] = None,
    ) -> None:
        check_writer(server.served, authorization)

    may_write = [Depends(writer)]
    conflict: Responses = {
        409: {"model": answers.Failure, "description": "A document with the ID exists."}
    }

    @app.post(
        "/api/documents",
        tags=["documents"],
        dependencies=may_write,
        responses=_FAILURES | _WRITING | conflict,
    )
    async def post_documents(request: Request, body: requests.AddBody) -> answers.AddAnswer:
        """Add documents: all of them, or none if one is invalid."""
        return await server.do(request, lambda served: add(served, body))

    @app.put(
        "/api/document",
        tags=["documents"],
        dependencies=may_write,
        responses=_FAILURES | _WRITING,
    )
    async def put_document(
        request: Request, id: DocumentId, body: requests.ReplaceBody
    ) -> answers.UpdateAnswer:
        """Add a document, or replace the document with the same ID."""
        return await server.do(request, lambda served: replace_document(served, id, body))

    @app.delete(
        "/api/document",
        tags=["documents"],
        dependencies=may_write,
        responses=_FAILURES | _WRITING | _MISSING,
    )
    async def delete_document(request: Request, id: DocumentId) -> answers.DeleteAnswer:
        """Delete a document."""
        return await server.do(request, lambda served: delete(served, id))
