"""`Index`: a persistent collection of documents that can be searched and changed."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import nan
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import (
    Bags,
    Int64Array,
    abbreviate,
    format_count,
    hinted,
    one_of,
    real,
)
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.explain import Bar, bars_svg, escape_markup, shortened
from textkin.index._info import IndexInfo, info_of, is_index
from textkin.index._reader import IndexReader
from textkin.index.distributed import Parts, join, near_pairs
from textkin.index.search import (
    Hits,
    HybridTuning,
    IndexState,
    RankingLike,
    Searcher,
    SearchQuery,
    SearchRequest,
    Syntax,
    Where,
    Words,
    checked_query,
    filter_of,
    tune,
    vector_of,
)
from textkin.index.store import (
    ENGLISH,
    TIMEOUT,
    AnalyzerSettings,
    BagBlock,
    Changes,
    InputType,
    NormalizerLike,
    Session,
    Snapshot,
    StemAnalyzer,
    TextFields,
    TextWeights,
    analyzer_settings,
    bag_blocks,
    create_index,
    delete,
    ingest,
    stem_analyzer,
    text_fields_of,
    verify,
)
from textkin.reading import Document, TextNames
from textkin.run import Executor, ProgressCallback, effective_jobs
from textkin.text import StopWords, Vocabulary, unchecked_vocabulary
from textkin.vectors import BuiltinName, WordVectors, vectors_by_name

__all__ = ["Index"]

_Default = TypeVar("_Default")
_LONGEST_PATH = 200  # columns


class Index:
    """Crash-safe collection of documents in a folder: add, update, delete, and search.

    Use `Index.create` to make an index and `Index.open` to open it again. One process or thread
    writes at a time; any number of them read.

    Parameters
    ----------
    path : path
        Folder of an existing index.
    timeout : float, default=10
        Seconds to wait for another writer before `IndexLockedError` is raised.
    models : mapping of str to object, default=None
        Attached models from other libraries, by name; see `attach`.

    Attributes
    ----------
    path : pathlib.Path
        Folder of the index.

    See Also
    --------
    textkin.read : Documents from files, folders, and tables.

    Notes
    -----
    **Storage.** The SQLite file ``catalogue.sqlite`` is the source of truth. It stores the ID,
    text, label, metadata, and word counts of each document. Files in ``segments`` store the counts
    in the form that searches use; textkin builds them from the catalog, and rebuilds them if they
    are missing or corrupt. The analyzer settings and the word vectors belong to the folder, so you
    can move or copy the folder and open it elsewhere.

    **Durability.** When `add`, `update`, or `delete` returns, the change survives a killed process
    and a power failure. A list or tuple is added atomically. Any other iterable, such as the result
    of `textkin.read`, is added in batches of some megabytes; after an error or Ctrl-C, the earlier
    batches remain.

    **Isolation.** An open index sees one snapshot: the documents at `open`, at the last `refresh`,
    or after its own last write. Writes by other processes do not change the snapshot. An iteration
    continues in the snapshot in which it began. Disk space that other writers free is released
    only when no reader uses an older snapshot.

    **Order.** Documents are in the order in which they were added. An updated document moves to
    the end.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = Index.create(f"{folder.name}/papers.kin")
    >>> print(index.add([
    ...     {"id": "a", "text": "Obama speaks to the media in Illinois", "year": 2015},
    ...     {"id": "b", "text": "The president greets the press in Chicago", "year": 2016},
    ... ]))
    2 added
    >>> index["a"].metadata, "c" in index, len(index)
    ({'year': 2015}, False, 2)
    >>> print(index.update([{"id": "a", "text": "The media are in Illinois"}]))
    1 updated
    >>> [document.id for document in index]
    ['b', 'a']
    >>> index.close()
    >>> with Index.open(f"{folder.name}/papers.kin") as index:
    ...     index.delete("b")
    ...     index.ids
    Changes(added=0, updated=0, unchanged=0, deleted=1)
    ['a']
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        timeout: float = TIMEOUT,
        models: Mapping[str, object] | None = None,
    ) -> None:
        self._session = Session(path, timeout=timeout, models=models)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        text: TextWeights = None,
        language: str | None = ENGLISH,
        stop_words: StopWords = None,
        lowercase: bool = True,
        normalizer: NormalizerLike = None,
        ngram_range: tuple[int, int] = (1, 1),
        vectors: WordVectors | BuiltinName | None = None,
        timeout: float = TIMEOUT,
        exist_ok: bool = False,
    ) -> Self:
        """Create an empty index in a new folder, and open it.

        Parameters
        ----------
        path : path
            Folder that does not exist yet, or is empty.
        text : str, sequence of str, mapping of str to int, or None, default=None
            Fields of records with the text of a document, such as ``["title", "body"]``, or with
            their weights, such as ``{"title": 3, "body": 1}``: integers from 1 to 1,000. A word in
            a field with weight 3 counts as three words in every ranking, so BM25 is BM25F. If None,
            documents have a single text.
        language : str or None, default="en"
            Language of the texts: a code such as "en" or "de", or the name of a Snowball stemmer.
            Rankings by words (BM25, TF-IDF, cosine) use the stems of words, without the stop words
            of the language. Counts, transport, and word vectors use words in lowercase, as written.
            If None, rankings by words use whole words. With `normalizer`, `ngram_range`, or
            ``lowercase=False``, which change the counted words, the default is None.
        stop_words : str, None, path or collection of str, default=None
            Words that are never counted, as for `BagOfWords`. They replace the stop list of the
            language. Rankings by transport always ignore stop words.
        lowercase : bool, default=True
            Convert words to lowercase before counting.
        normalizer : {"stem", "lemma", "wordnet"}, Stemmer, Lemmatizer or None, default=None
            Normalizer for words. Do not use "stem" if words are looked up in word vectors.
        ngram_range : (int, int), default=(1, 1)
            Minimum and maximum number of words in the n-grams to count.
        vectors : WordVectors, {"glove", "distilled"} or None, default=None
            Word vectors of the index, which are copied into its folder. If None, the built-in
            vectors are used; the folder stores only their name and hash.
        timeout : float, default=10
            Seconds to wait for another writer.
        exist_ok : bool, default=False
            If True and the folder already holds an index with the same settings, open it.

        Returns
        -------
        Index
            The new index, open for reading and writing.

        Raises
        ------
        FileExistsError
            If `path` exists and is not an empty folder, nor an index with `exist_ok`.
        ValueError, TypeError
            If a setting is invalid or cannot be stored in a folder, or differs from the existing
            index. No folder is made.
        """
        one_of(True, False).check("exist_ok", exist_ok)
        real(0).check("timeout", timeout)
        analyzer = analyzer_settings(
            lowercase=lowercase,
            stop_words=stop_words,
            normalizer=normalizer,
            ngram_range=ngram_range,
        )
        stems = stem_analyzer(language, analyzer)
        fields = text_fields_of(text)
        if exist_ok and is_index(path):
            return cls._open_same(path, analyzer, stems, fields, vectors, timeout)
        create_index(Path(path).absolute(), analyzer, vectors, stems, fields)
        return cls(path, timeout=timeout)

    @classmethod
    def _open_same(
        cls,
        path: str | os.PathLike[str],
        analyzer: AnalyzerSettings,
        stems: StemAnalyzer | None,
        fields: TextFields | None,
        vectors: WordVectors | BuiltinName | None,
        timeout: float,
    ) -> Self:
        """Open an existing index; raise if its text settings or vectors differ from the given."""
        opened = cls(path, timeout=timeout)
        existing = opened._session.analyzer
        differ = [
            name for name, value in asdict(analyzer).items() if value != getattr(existing, name)
        ]
        term_map = opened._session.snapshot().term_map
        existing_stems = None if term_map is None else term_map.analyzer
        if stems is None or existing_stems is None:
            same = stems is existing_stems
        else:  # another version of the stemmer is no other setting
            same = replace(stems, version=existing_stems.version) == existing_stems
        if not same:
            differ.append("language")
        if fields != opened._session.text_fields:
            differ.append("text")
        if vectors is not None and not _same_vectors(vectors, opened.vectors):
            differ.append("vectors")
        if differ:
            opened.close()
            raise ParameterError(
                differ[0],
                f"the same as in the existing index {str(path)!r}",
                "another value",
                "Open the index with `Index.open`, or create it in another folder.",
            )
        return opened

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        timeout: float = TIMEOUT,
        models: Mapping[str, object] | None = None,
        create: bool = False,
    ) -> Self:
        """Open the index in an existing folder, for reading and writing.

        Parameters
        ----------
        path : path
            Folder of the index.
        timeout : float, default=10
            Seconds to wait for another writer.
        models : mapping of str to object, default=None
            Attached models from other libraries, by the names passed to `attach`. Without one, a
            search with this model needs a document or a vector, and documents are added without
            its vectors.
        create : bool, default=False
            If True and the folder does not exist or is empty, create an index with the default
            settings of `create`.

        Returns
        -------
        Index
            The open index. Close it, or use it as a context manager.

        Raises
        ------
        FileNotFoundError
            If the folder has no index.
        ValueError
            If the folder contains something else, or an index of a newer version of textkin.
        DamagedIndexError
            If the catalog cannot be read. Unreadable segments are rebuilt with an `IndexWarning`.
        """
        one_of(True, False).check("create", create)
        if create and not is_index(path):
            cls.create(path, timeout=timeout).close()
        return cls(path, timeout=timeout, models=models)

    @property
    def path(self) -> Path:
        """Path of the folder that contains the index."""
        return self._session.path

    def close(self) -> None:
        """Close the files of the index; further calls raise an error.

        Iterations that have begun can continue, and so can a write in another thread. You can
        close an index more than once.
        """
        self._session.close()

    def __enter__(self) -> Self:
        self._session.check_usable()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        return _index_of, (type(self), self._session)

    # Reading

    def __len__(self) -> int:
        return len(self._session.snapshot())

    def __iter__(self) -> Iterator[Document]:
        return self._session.snapshot().documents()

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._session.snapshot().get(id) is not None

    def __getitem__(self, id: str) -> Document:
        found = self.get(id)
        if found is None:
            raise hinted(
                KeyError,
                f"no document has the ID {abbreviate(id)};",
                "test with `id in index`, or use get(id), which returns None.",
            )
        return found

    @overload
    def get(self, id: str) -> Document | None: ...
    @overload
    def get(self, id: str, default: _Default) -> Document | _Default: ...
    def get(self, id: str, default: Any = None) -> Any:
        """Return the document with an ID, or `default` if no document has it.

        Parameters
        ----------
        id : str
            ID of the document.
        default : object, default=None
            Value to return if no document has the ID.

        Returns
        -------
        Document or default
            Document with its label and metadata. Tuples in the metadata become lists, as in JSON.
        """
        if not isinstance(id, str):
            raise ParameterTypeError("id", "a str", type(id).__name__)
        found = self._session.snapshot().get(id)
        return default if found is None else found

    @property
    def ids(self) -> list[str]:
        """IDs of all documents in the order of insertion, as a new list."""
        return self._session.snapshot().ids()

    def bags(self) -> Bags:
        """Return the document-term matrix: word counts, one row per document.

        Returns
        -------
        csr_array of shape (n_documents, n_words), float32
            Word counts. Rows are in the order of `ids`, columns in the order of `vocabulary`.
        """
        return self._session.snapshot().bags()

    def bag_blocks(self) -> list[BagBlock]:
        """Return functions that each read a block of rows of the document-term matrix.

        Returns
        -------
        list of callable
            Small functions, one per segment and one for the documents that are not in a segment
            yet. Each returns its rows of `bags` and can be called in another process. Pass them
            to `textkin.models.fit_blocks`. They raise an error if the index has changed.
        """
        return bag_blocks(self._session.snapshot())

    def vocabulary(self) -> Vocabulary:
        """Return the words of the document-term matrix: word j is column j of `bags`.

        Words stay in the vocabulary after the last document with them is deleted.
        """
        return unchecked_vocabulary(self._session.snapshot().words())

    def document_frequencies(self) -> Int64Array:
        """Return the number of documents that contain each word of `vocabulary`."""
        return self._session.snapshot().frequencies.copy()

    @property
    def vectors(self) -> WordVectors:
        """Word vectors of the index, loaded on first use."""
        return self._session.word_vectors()

    def info(self) -> IndexInfo:
        """Return numbers of documents and words, file sizes, and settings, as `IndexInfo`."""
        return info_of(self._session, self._session.snapshot())

    def reader(self, *, latest: bool = True) -> IndexReader:
        """Return an `IndexReader` of the current snapshot, which later writes do not change.

        Parameters
        ----------
        latest : bool, default=True
            Use the latest snapshot, as after `refresh`. If False, use the snapshot that this
            object currently sees.

        Raises
        ------
        OSError
            If the folder of the index was moved, removed, or replaced (`latest` only).
        """
        if latest:
            self._session.see_latest()
        return IndexReader(self._session, self._searcher())

    # Searching

    def find(self, request: SearchRequest) -> Hits:
        """Execute a `SearchRequest`, and return its hits, best first.

        Parameters
        ----------
        request : SearchRequest
            Arguments of `search` or `similar` as one object.

        Returns
        -------
        Hits
            Hits, as for `search`.

        Raises
        ------
        KeyError
            If no document has the ID in `request.like`.
        ValueError, TypeError
            If the ranking does not exist, or the index is closed.

        Examples
        --------
        >>> import tempfile
        >>> from textkin import Index
        >>> from textkin.index import SearchRequest
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = Index.create(f"{folder.name}/animals.kin")
        >>> _ = index.add(["Cats purr", "Cats and dogs sleep", "Dogs bark"])
        >>> request = SearchRequest("cats", k=1)
        >>> index.find(request).ids, index.find(request.next_page()).ids
        (['0'], ['1'])
        >>> index.close()
        >>> folder.cleanup()
        """
        return self._searcher().find(request)

    def search(
        self,
        query: SearchQuery | None = None,
        k: int = 10,
        *,
        embedding: ArrayLike | None = None,
        ranking: RankingLike = "bm25",
        where: Where | None = None,
        threshold: float | None = None,
        offset: int = 0,
        syntax: Syntax = "auto",
    ) -> Hits:
        """Find the `k` documents most similar to a query text, and return them as `Hits`.

        Parameters
        ----------
        query : str, or mapping of str to float
            Text, analyzed in the same way as the documents; or words with weights, such as the
            expanded query of hits. Words that occur in no document are ignored. A query without
            words has no hits.
        k : int, default=10
            Maximum number of hits.
        embedding : array-like of shape (dimensions,), optional
            Vector of the query, for a ranking by an attached model. Without `query`, no encoder is
            needed. With a text in `query`, a hybrid ranking uses both.
        ranking : str, TfIdf, BM25 or ranking, default="bm25"
            Method that scores documents.
        where : mapping, str or Filter, optional
            Filter on the metadata, such as ``{"year": {">=": 2010}}`` or
            ``"year >= 2010 and lang in (en, de)"``; see `textkin.index.parse_filter`. Word
            statistics still cover all documents. A filter on a field that occurs in no document
            has no hits; ``hits.unknown_fields`` and ``hits.notes`` name the field.
        threshold : float or None, default=None
            Minimum score of a hit, or maximum distance for rankings by distance (inclusive).
        offset : int, default=0
            Number of best hits to skip, to get a later page.
        syntax : {"auto", "operators", "plain"}, default="auto"
            Whether operators in a text are read: ``"exact phrase"``, ``+required``, ``-excluded``,
            and ``field:value``, such as ``label:sport``. With "auto", they are read in texts of one
            line with at most 16 words, with "operators" always, and with "plain" never.

        Returns
        -------
        Hits
            Hits, best first; ties are in the order in which the documents were added. There are
            fewer than `k` hits if fewer documents have anything in common with the query.

        Raises
        ------
        ValueError, TypeError
            If an argument is invalid, or the index is closed.

        Examples
        --------
        >>> import tempfile
        >>> from textkin import Index
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = Index.create(f"{folder.name}/papers.kin")
        >>> _ = index.add([
        ...     {"id": "a", "text": "From word embeddings to document distances", "year": 2015},
        ...     {"id": "b", "text": "Word embeddings, and distances of words", "year": 2017},
        ... ])
        >>> hits = index.search("word distances", where="year < 2016")
        >>> print(hits.to_text(60, marks=("[", "]")))
           score   id
        1  0.3473  a   From [word] embeddings to document [distances]
        >>> index.close()
        >>> folder.cleanup()
        """
        checked: str | Words | None
        if isinstance(query, str) or (query is None and embedding is not None):
            checked = query  # `SearchRequest` checks a text
        else:
            checked = checked_query(query)
        request = SearchRequest(
            checked,
            ranking=ranking,
            k=k,
            offset=offset,
            threshold=threshold,
            where=filter_of(where),
            syntax=syntax,
            embedding=None if embedding is None else vector_of(embedding),
        )
        return self.find(request)

    def search_many(
        self,
        queries: Iterable[SearchQuery],
        k: int = 10,
        *,
        ranking: RankingLike = "bm25",
        where: Where | None = None,
        threshold: float | None = None,
        syntax: Syntax = "auto",
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> list[Hits]:
        """Search for several queries in the same snapshot; return `Hits` for each query.

        Parameters
        ----------
        queries : iterable of str, or of mappings
            Queries as for `search`. All of them are validated before the first search.
        k, ranking, where, threshold, syntax
            As for `search`.
        n_jobs : int or None, default=None
            Number of threads; None means 1, and -1 means one per core.
        progress : callable, default=None
            Function that is called with (queries done, number of queries) from time to time.

        Returns
        -------
        list of Hits
            Hits of each query, equal to the results of `search`.
        """
        wanted = _queries(queries)
        n_threads = effective_jobs(n_jobs)
        condition = filter_of(where)
        requests = [
            SearchRequest(
                query, ranking=ranking, k=k, threshold=threshold, where=condition, syntax=syntax
            )
            for query in wanted
        ]
        return self._searcher().find_many(requests, n_threads, progress)

    def similar(
        self,
        id: str,
        k: int = 10,
        *,
        ranking: RankingLike = "bm25",
        where: Where | None = None,
        threshold: float | None = None,
        offset: int = 0,
    ) -> Hits:
        """Find the `k` documents most similar to a document of the index, as `Hits`.

        Parameters
        ----------
        id : str
            ID of the document, which is excluded from its own hits.
        k, ranking, where, threshold, offset
            As for `search`.

        Returns
        -------
        Hits
            Hits, as for `search`.

        Raises
        ------
        KeyError
            If no document has the ID.
        """
        if not isinstance(id, str):
            raise ParameterTypeError("id", "a str", type(id).__name__)
        request = SearchRequest(
            like=id,
            ranking=ranking,
            k=k,
            offset=offset,
            threshold=threshold,
            where=filter_of(where),
        )
        return self.find(request)

    def tune(
        self,
        queries: Mapping[str, str],
        qrels: Mapping[str, Mapping[str, float] | Iterable[str]],
        rankings: Sequence[RankingLike] | None = None,
        *,
        fusion: Literal["scores", "rrf"] = "scores",
        n_folds: int = 5,
        candidates: int = 1000,
        progress: ProgressCallback | None = None,
    ) -> HybridTuning:
        """Learn the weights of a hybrid ranking from queries with relevance judgments.

        Parameters
        ----------
        queries : mapping of str to str
            Text of each query by its ID. Operators are not read.
        qrels : mapping
            Relevant documents of each query: a list of IDs, or a mapping of IDs to grades, where
            grades above 0 are relevant. Queries without relevant documents are ignored.
        rankings : sequence of rankings or None, default=None
            Two to four rankings to combine. If None, the parts of the ranking "hybrid".
        fusion : {"scores", "rrf"}, default="scores"
            As for `textkin.Hybrid`.
        n_folds : int, default=5
            Number of folds of the cross-validation.
        candidates : int, default=1000
            Number of best documents of each ranking that are candidates.
        progress : callable, default=None
            Function that is called with (queries done, number of queries).

        Returns
        -------
        HybridTuning
            The hybrid with the learned weights, and the mean average precision over the candidates
            of each ranking, of equal weights, and of learned weights. ``print(tuning)`` shows them.

        Raises
        ------
        ParameterError, ParameterTypeError
            If an argument is invalid, or fewer than `n_folds` queries have a relevant document.

        See Also
        --------
        textkin.evaluate_search : Compare rankings, also with queries and judgments from files.

        Notes
        -----
        The weights are the best of all weights that sum to 1 in steps of 0.05 (for two rankings),
        0.1 (three), or 0.2 (four), by mean average precision. Documents outside the candidates
        count as not found.

        Examples
        --------
        >>> import tempfile
        >>> from textkin import Index
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = Index.create(f"{folder.name}/pets.kin")
        >>> _ = index.add(["Cats purr", "A kitten sleeps", "Dogs bark", "Stocks fell"])
        >>> queries = {"q1": "cats purr", "q2": "kitten", "q3": "dogs"}
        >>> qrels = {"q1": ["0", "1"], "q2": ["1", "0"], "q3": ["2"]}
        >>> tuning = index.tune(queries, qrels, ["bm25", "wmd"], n_folds=3)
        >>> tuning.labels, round(tuning.scores["bm25"], 3)
        (('bm25', 'wmd'), 0.667)
        >>> index.search("cats", ranking=tuning.ranking, k=1).ids
        ['0']
        >>> index.close()
        >>> folder.cleanup()
        """
        return tune(
            self._searcher(),
            queries,
            qrels,
            rankings,
            fusion=fusion,
            n_folds=n_folds,
            candidates=candidates,
            progress=progress,
        )

    def join(
        self,
        queries: Iterable[object],
        folder: str | os.PathLike[str],
        k: int = 10,
        *,
        ranking: RankingLike = "wmd",
        where: Where | None = None,
        threshold: float | None = None,
        executor: Executor = None,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
        part: int = 256,
        progress: ProgressCallback | None = None,
    ) -> Parts:
        """Find the `k` best documents for each of many queries; write them to Parquet files.

        Parameters
        ----------
        queries : iterable of Document, mapping or str
            Queries, as returned by `textkin.read`, or anything else that `add` accepts. They are
            read as needed.
        folder : path
            New folder, or the folder of an interrupted call with the same arguments. In an
            existing folder, the call resumes after the last complete part.
        k, ranking, where, threshold
            As for `search`.
        executor : {"threads", "joblib"}, distributed.Client or str, default=None
            Executor of the search: threads, processes, or a cluster; see `ClusterRanking`. If None,
            this process.
        n_jobs : int, default=None
            Number of threads or processes if `executor` is not a cluster.
        memory : str or int, default="512MB"
            Memory limit per worker.
        part : int, default=256
            Number of queries that are searched together and form one file.
        progress : callable, default=None
            Function that is called after each part with (queries done, number of queries). The
            number of queries is 0 if it is unknown.

        Returns
        -------
        Parts
            Files with the columns ``query`` (ID of the query, or its position if it is a text),
            ``rank`` (from 0), ``id``, and ``score``. Rows are in the order of the queries, and
            best first within a query. A query without hits has no rows.

        Raises
        ------
        ValueError
            If the folder was begun with other arguments, other queries, or another snapshot of
            the index, or if one of its parts is corrupt.
        FileExistsError
            If the folder contains anything else.

        Notes
        -----
        Each part is written atomically. The hits and scores are bit-identical to the hits and
        scores of `search`. All queries search the same snapshot of the index; a call that resumes
        must see the same snapshot too.

        Examples
        --------
        >>> import tempfile
        >>> import textkin as tk
        >>> from pyarrow import parquet
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with tk.Index.create(f"{folder}/animals.kin") as index:
        ...         _ = index.add(["Dogs bark at night", "The band played loud", "Cats purr"])
        ...         parts = index.join(["A kitten sleeps", "Music"], f"{folder}/found", k=1)
        ...         parquet.read_table(parts.folder).select(["query", "id"]).to_pylist()
        [{'query': '0', 'id': '2'}, {'query': '1', 'id': '1'}]
        """
        return join(
            self._searcher(),
            queries,
            folder,
            k,
            ranking=ranking,
            where=filter_of(where),
            threshold=threshold,
            executor=executor,
            n_jobs=n_jobs,
            memory=memory,
            part=part,
            progress=progress,
        )

    def near_pairs(
        self,
        threshold: float,
        folder: str | os.PathLike[str],
        *,
        ranking: RankingLike = "wmd",
        executor: Executor = None,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
        progress: ProgressCallback | None = None,
    ) -> Parts:
        """Find all pairs of documents within a distance, and write them to Parquet files.

        Parameters
        ----------
        threshold : float
            Maximum distance of a pair, inclusive.
        folder : path
            New folder, or the folder of an interrupted call with the same arguments. In an
            existing folder, the call resumes after the last complete part.
        ranking : str, WordMover or TransportRanking, default="wmd"
            Word Mover's Distance, or one of its lower bounds.
        executor : {"threads", "joblib"}, distributed.Client or str, default=None
            Executor that compares blocks of documents; see `textkin.run.map_blocks`.
        n_jobs : int, default=None
            Number of threads or processes if `executor` is not a cluster.
        memory : str or int, default="512MB"
            Memory limit per worker.
        progress : callable, default=None
            Function that is called with (pairs of blocks done, pairs of blocks to do in this
            call).

        Returns
        -------
        Parts
            Files with the columns ``first`` and ``second`` (IDs, in index order) and ``distance``.
            Each pair occurs once. Pairs are sorted by the first document, then by distance.

        Raises
        ------
        ValueError
            If the folder was begun with other arguments or another snapshot of the index, or if
            one of its parts is corrupt.
        FileExistsError
            If the folder contains anything else.
        MemoryError
            If the pairs of one part need more than `memory`.

        See Also
        --------
        textkin.WordMover.pairwise_below : The same for documents in memory.
        textkin.find_duplicates : Groups of similar documents.

        Notes
        -----
        The index is split into blocks of 512 to 8,192 documents, and every block is compared with
        itself and with all later blocks. The work grows with the square of the number of
        documents, although bounds avoid most distances. Each part has the pairs whose first
        document is in one block, and is written atomically.
        """
        return near_pairs(
            self._searcher(),
            threshold,
            folder,
            ranking=ranking,
            executor=executor,
            n_jobs=n_jobs,
            memory=memory,
            progress=progress,
        )

    def _searcher(self) -> Searcher:
        """Return the `Searcher` of the current snapshot, cached until the snapshot changes."""
        return self._session.derived(self._searcher_of)

    def _searcher_of(self, snapshot: Snapshot) -> Searcher:
        session = self._session
        state = IndexState(
            snapshot, session.analyzer, session.word_vectors, session.models, session.cache
        )
        return Searcher(state)

    # Writing

    def add(
        self,
        documents: Iterable[object],
        *,
        text: TextNames = None,
        embeddings: Mapping[str, ArrayLike] | None = None,
        n_jobs: int | None = None,
        executor: Executor = None,
        progress: ProgressCallback | None = None,
    ) -> Changes:
        """Add documents with new IDs; raise if an ID exists.

        Parameters
        ----------
        documents : iterable of Document, mapping or str
            Documents, as returned by `textkin.read`, or anything else that it reads except paths.
            A record has its text in ``text``, or in the text fields of the index (see `create`),
            and may have ``id`` and ``label``. All other fields are metadata, which must be JSON. A
            document without an ID gets a number as its ID.
        text : str or sequence of str, default=None
            Field of records with the text, such as ``"body"``. An index that was created without
            text fields takes one; otherwise, the names must be the text fields of the index. Not
            for the result of `textkin.read`, which has a parameter of this name.
        embeddings : mapping of str to array of shape (n_documents, dimensions), default=None
            Vectors of the documents, in their order, by the name of an attached model. All
            documents are then added in one transaction. Without them, the encoder of the model
            computes the vectors. If the index does not have the encoder, the documents are added
            without vectors: `info` counts them, this ranking never finds them, and `embed` adds
            their vectors later.
        n_jobs : int or None, default=None
            Number of threads that split texts into words; None means 1, and -1 means one per core.
        executor : {"threads", "joblib"}, distributed.Client or str, default=None
            Executor that reads files and counts words; see `textkin.run.map_blocks`. Use it for
            documents from `textkin.read` that are stored in many files. This process writes the
            results in file order: documents, words, and counts are the same as without `executor`.
            One transaction covers one block of files (some megabytes).
        progress : callable, default=None
            Function that is called after each batch with (documents done, number of documents).
            The number of documents is 0 if it is unknown.

        Returns
        -------
        Changes
            Number of documents added.

        Raises
        ------
        ParameterError
            If `text` or `embeddings` are invalid. Nothing is added.
        AddError
            If an ID exists already, or a document is invalid. The error identifies the document
            and the number of documents kept: none of a list or tuple, and the earlier batches of
            any other iterable.

        Warns
        -----
        IndexWarning
            If documents were added without the vectors of a model.

        See Also
        --------
        update : Replace existing documents.
        """
        return ingest(
            self._session,
            documents,
            replace=False,
            text=text,
            embeddings=embeddings,
            n_jobs=n_jobs,
            executor=executor,
            progress=progress,
        )

    def update(
        self,
        documents: Iterable[object],
        *,
        text: TextNames = None,
        embeddings: Mapping[str, ArrayLike] | None = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Changes:
        """Add documents; replace the documents of the index that have the same ID.

        A document that equals the stored one is unchanged. If several documents have the same ID,
        the last one is stored.

        Parameters
        ----------
        documents : iterable of Document, mapping or str
            As for `add`.
        text : str or sequence of str, default=None
            As for `add`.
        embeddings : mapping of str to array of shape (n_documents, dimensions), default=None
            As for `add`. The vectors of unchanged documents are replaced as well.
        n_jobs : int or None, default=None
            As for `add`.
        progress : callable, default=None
            As for `add`.

        Returns
        -------
        Changes
            Number of documents added, updated, and unchanged.
        """
        return ingest(
            self._session,
            documents,
            replace=True,
            text=text,
            embeddings=embeddings,
            n_jobs=n_jobs,
            progress=progress,
        )

    def mirror(
        self,
        documents: Iterable[object],
        *,
        text: TextNames = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Changes:
        """Make the index equal to a collection: update its documents, delete all others.

        Documents are deleted only after all documents were read. If one cannot be read, none are
        deleted.

        Parameters
        ----------
        documents : iterable of Document, mapping or str
            Documents as for `add`: the complete contents of the index, at least one document.
        text : str or sequence of str, default=None
            As for `add`.
        n_jobs : int or None, default=None
            As for `add`.
        progress : callable, default=None
            As for `add`.

        Returns
        -------
        Changes
            Number of documents added, updated, unchanged, and deleted.
        """
        return ingest(
            self._session,
            documents,
            replace=True,
            text=text,
            seen=set(),
            n_jobs=n_jobs,
            progress=progress,
        )

    def delete(
        self, ids: str | Iterable[str], *, missing: Literal["raise", "ignore"] = "raise"
    ) -> Changes:
        """Delete the documents with given IDs, all or none.

        Parameters
        ----------
        ids : str or iterable of str
            IDs of the documents.
        missing : {"raise", "ignore"}, default="raise"
            Whether to raise `KeyError` or continue if no document has one of the IDs.

        Returns
        -------
        Changes
            Number of documents deleted.

        Raises
        ------
        KeyError
            If an ID is missing. No document is deleted.
        """
        one_of("raise", "ignore").check("missing", missing)
        if isinstance(ids, Document | Mapping) or not isinstance(ids, Iterable):
            raise ParameterTypeError("ids", "a str or an iterable of str", type(ids).__name__)
        wanted = [ids] if isinstance(ids, str) else list(ids)
        for id in wanted:
            if not isinstance(id, str):
                raise TypeError(f"ids must be strings; got {abbreviate(id)} ({type(id).__name__}).")
        return delete(self._session, wanted, ignore_missing=missing == "ignore")

    # Attached models

    def models(self) -> dict[str, str]:
        """Return a one-line description of each attached model or embedding set, by name."""
        return self._session.models.describe(self._session.snapshot())

    def attach(
        self,
        name: str,
        model: object = None,
        *,
        embeddings: ArrayLike | None = None,
        ids: Iterable[str] | None = None,
        encoder: object = None,
        metric: Literal["cosine", "inner", "euclidean"] = "cosine",
        dtype: Literal["float32", "float16"] = "float32",
        input_type: InputType = "auto",
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        """Attach a model, an encoder, or embeddings, to rank by with ``ranking=name``.

        Each document gets a vector: from `embeddings`, or from the model. Documents that are added
        or updated later get their vectors in the same transaction.

        Parameters
        ----------
        name : str
            Name of the model: up to 64 letters, digits, ``.``, ``_``, and ``-``. A model with this
            name whose record in the catalog is corrupt is replaced.
        model : estimator, pipeline, or encoder, default=None
            A textkin model over bags (`LSI`, `LDA`, `PLSA`) or texts (`Pooling`, `FisherVector`,
            `ParagraphVector`), or a scikit-learn `Pipeline` of textkin estimators, such as
            ``make_pipeline(TfIdf(), LSI(100))``. The model is saved in the folder, and loaded from
            there. If it is not fitted, `attach` fits it on `bags` or on the texts. Any other object
            is an `encoder`.
        embeddings : array-like of shape (n_documents, dimensions), default=None
            Vectors of the documents, in the order of `ids` or of the index. A memory-mapped array
            is read in blocks.
        ids : iterable of str, default=None
            IDs of the documents of `embeddings`. Other documents have no vector.
        encoder : object with ``encode``, or callable, default=None
            Function from a list of texts to vectors, such as a SentenceTransformer or a model2vec
            StaticModel. Only vectors are stored; pass the encoder again when you open the index:
            ``Index.open(path, models={name: encoder})``. With `embeddings`, it encodes only queries
            and documents that are added later.
        metric : {"cosine", "inner", "euclidean"}, default="cosine"
            How to compare vectors: by cosine similarity, inner product, or Euclidean distance.
        dtype : {"float32", "float16"}, default="float32"
            Type of the stored numbers. "float16" takes half the space, with a relative error of at
            most 0.0005 of each number.
        input_type : {"auto", "bags", "texts"}, default="auto"
            Input of the model. With "auto", textkin models get their own input type. Transformers
            from other libraries that were fitted on columns get bags, and all other models get
            texts.
        n_jobs : int or None, default=None
            Number of threads for textkin models that support several. If None, the model decides.
        progress : callable, default=None
            Function that is called with (documents done, number of documents).

        Raises
        ------
        ValueError, TypeError
            If the name, the model, or the embeddings are invalid. Nothing is attached.

        See Also
        --------
        embed : Add the vectors of documents that have none.
        detach : Remove a model.
        textkin.index.ModelRanking : Ranking by vectors of a model, with an approximate search.

        Notes
        -----
        Columns are word IDs, which never change. Words that were added after a model was fitted are
        ignored. A document without any word of the model has the zero vector, which is never
        found, regardless of the model's output for an empty bag.

        1,024 and more vectors are written to a memory-mapped file, and fewer to the catalog. A
        corrupt file makes this model unusable, but never the documents.

        If you pass an encoder again, it must be the same encoder. Only its number of dimensions is
        checked.

        Examples
        --------
        >>> import tempfile
        >>> import textkin as tk
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = tk.Index.create(f"{folder.name}/news.kin")
        >>> print(index.add(["oil prices rise", "prices of crude oil", "the cup final"]))
        3 added
        >>> index.attach("lsi", tk.LSI(2, random_state=0))
        >>> index.models()
        {'lsi': 'LSI(n_components=2, random_state=0), over lowercase words: 2 dimensions, cosine'}
        >>> index.search("crude", k=2, ranking="lsi").ids
        ['0', '1']
        >>> index.attach("own", embeddings=[[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
        >>> index.search(embedding=[0.6, 0.8], k=2, ranking="own").ids
        ['1', '2']
        >>> index.close()
        >>> folder.cleanup()
        """
        if model is not None and encoder is not None:
            raise ParameterError("encoder", "None if `model` is passed", "both", "Pass one.")
        if model is None and encoder is None and embeddings is None:
            raise ParameterError(
                "model",
                "passed, or `encoder`, or `embeddings`",
                "none of them",
                "Pass `embeddings=array` or `encoder=model`.",
            )
        self._session.models.attach(
            self._session,
            name,
            encoder if model is None else model,
            embeddings=embeddings,
            ids=ids,
            metric=metric,
            dtype=dtype,
            input_type=input_type,
            n_jobs=n_jobs,
            progress=progress,
        )

    def embed(
        self,
        name: str,
        *,
        embeddings: ArrayLike | None = None,
        ids: Iterable[str] | None = None,
        progress: ProgressCallback | None = None,
    ) -> int:
        """Compute missing vectors of an attached model, or set given vectors; return the number.

        Parameters
        ----------
        name : str
            Name of an attached model that is not stored in the folder.
        embeddings : array-like of shape (n, dimensions), default=None
            Vectors of the documents `ids`, which replace earlier vectors. If None, the encoder of
            the model computes the vectors of all documents that have none.
        ids : iterable of str, default=None
            IDs of the documents of `embeddings`.
        progress : callable, default=None
            Function that is called with (documents done, number of documents).

        Returns
        -------
        int
            Number of documents whose vectors were set.

        Raises
        ------
        KeyError
            If no model has the name.
        ValueError, TypeError
            If the vectors are invalid, or the index does not have the encoder. Nothing is changed.

        Examples
        --------
        >>> import tempfile
        >>> import textkin as tk
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = tk.Index.create(f"{folder.name}/news.kin")
        >>> _ = index.add([{"id": "a", "text": "oil"}, {"id": "b", "text": "cup"}])
        >>> index.attach("own", embeddings=[[1.0, 0.0]], ids=["a"])
        >>> index.info().unembedded
        {'own': 1}
        >>> index.embed("own", embeddings=[[0.0, 1.0]], ids=["b"])
        1
        >>> index.close()
        >>> folder.cleanup()
        """
        return self._session.models.embed(
            self._session, name, embeddings=embeddings, ids=ids, progress=progress
        )

    def detach(self, name: str) -> None:
        """Remove an attached model and its document vectors from the index.

        Parameters
        ----------
        name : str
            Name of the model.

        Raises
        ------
        KeyError
            If no model has the name.
        """
        self._session.models.detach(self._session, name)

    # The folder

    def refresh(self) -> None:
        """Switch to the newest snapshot, which includes changes by other processes."""
        self._session.refresh()

    def compact(self) -> None:
        """Merge all segments, and free the disk space of deleted and replaced documents.

        This takes time and, temporarily, as much disk space as the index. The documents do not
        change.
        """
        with self._session.writing() as writer:
            writer.compact()

    def copy(
        self, path: str | os.PathLike[str], *, progress: ProgressCallback | None = None
    ) -> "Index":
        """Copy the current snapshot to a new folder, and return the opened copy.

        Parameters
        ----------
        path : path
            Folder that does not exist yet, or is empty. If copying fails, no folder is made.
        progress : callable, default=None
            Function that is called with (pages done, number of pages) of the catalog.

        Returns
        -------
        Index
            The copy, open.
        """
        return _index_of(type(self), self._session.copy(path, progress))

    def verify(self, *, repair: bool = False, progress: ProgressCallback | None = None) -> None:
        """Verify checksums of all files; raise `DamagedIndexError` for corrupt ones.

        The catalog must be intact, and each document must match its hash. Each segment must match
        its hash and agree with the catalog. The index's own word vectors and models must match
        their hashes. Each document must have a vector of each model, or be listed as a document
        without one.

        Parameters
        ----------
        repair : bool, default=False
            Rebuild corrupt segments from the catalog instead of raising an error.
        progress : callable, default=None
            Function that is called with (documents done, number of documents).

        Raises
        ------
        DamagedIndexError
            If a file is corrupt; ``problems`` lists the problems by file.
        """
        verify(self._session, repair=repair, progress=progress)

    def _repr_html_(self) -> str:
        path = escape_markup(shortened(str(self.path), _LONGEST_PATH))
        if self._session.closed:
            return f"<p>Index <b>{path}</b>, closed</p>"
        info = self.info()
        facts = {
            "documents": format_count(info.documents, "document"),
            "words": f"{info.words:,} distinct, {info.tokens:,} in all",
            "language": info.language or "none",
            **({"fields": escape_markup(_listed(info.text_fields))} if info.text_fields else {}),
            "normalizer": info.normalizer or "none",
            "vectors": info.vectors,
            "models": escape_markup(shortened(", ".join(info.models), _LONGEST_PATH)) or "none",
            "size": f"{info.bytes['total'] / 1e6:,.1f} MB",
        }
        rows = "".join(
            f'<tr><th style="text-align:left">{name}</th>'
            f'<td style="text-align:left">{value}</td></tr>'
            for name, value in facts.items()
        )
        return f"<p>Index <b>{path}</b></p><table>{rows}</table>"

    def _repr_svg_(self) -> str | None:
        """Return a figure with the number of documents of each label, or of all documents."""
        if self._session.closed:
            return None
        counts: list[tuple[str, int]] = [("documents", len(self))]
        labels = self.reader().field_values(n_fields=0, n_values=0).labels
        counts += [(f"label {label}", count) for label, count in labels]
        bars = [
            Bar(name, count, nan, "", (at == len(counts) - 1,))
            for at, (name, count) in enumerate(counts)
        ]
        return bars_svg(
            bars,
            title=self.path.name,
            about=f"{format_count(len(self), 'document')} by label.",
            width=780,
            legend="bar: documents",
            number_format=",.0f",
        )

    def __repr__(self) -> str:
        if self._session.closed:
            return f"Index({str(self.path)!r}, closed)"
        return f"Index({str(self.path)!r}, {format_count(len(self), 'document')})"


def _listed(weights: Mapping[str, int]) -> str:
    """Return the names of text fields with their weights."""
    return shortened(", ".join(f"{name} x {n}" for name, n in weights.items()), _LONGEST_PATH)


def _same_vectors(given: WordVectors | BuiltinName, stored: WordVectors) -> bool:
    vectors = vectors_by_name(given) if isinstance(given, str) else given
    if not isinstance(vectors, WordVectors):
        return False
    return vectors is stored or (
        vectors.words == stored.words and np.array_equal(vectors.matrix, stored.matrix)
    )


def _index_of(kind: type[Index], session: Session) -> Index:
    index = kind.__new__(kind)
    index._session = session
    return index


def _queries(queries: Iterable[SearchQuery]) -> list[str | Words]:
    """Validate all queries of `search_many`, and return them, before any search."""
    if isinstance(queries, str | Mapping) or not isinstance(queries, Iterable):
        raise ParameterTypeError(
            "queries",
            "an iterable of texts, or of mappings of words to weights",
            type(queries).__name__,
            "For a single query, use `index.search(query)`.",
        )
    return [checked_query(query, f"queries[{at}]") for at, query in enumerate(queries)]
