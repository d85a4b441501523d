"""The gateway: results in the order of the inputs, from the cache where possible, cancelled promptly."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import Cancelled, InputError, ModelError, WorkerDied
from engine.inference import keys
from engine.inference.backend import Piece
from engine.inference.cache import Cache
from engine.inference.chunks import SPECIAL_TOKENS, chunk_order, chunk_slices
from engine.inference.gateway import Gateway, GatewaySession
from engine.library_versions import library_versions
from engine.measures.clusters.resampling import bootstrap
from engine.models.sources.model_location import LocatedModel
from tests.support.fakes import FakeBackend

BERT = "fake/bert"
# One chunk is 200 characters at this size, so that a few sentences are several chunks.
LARGE = 10**9
TEXTS = [f"{number}番目の文は、{'とても' * (number % 5)}短い。" for number in range(40)]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    cache = Cache(tmp_path / "cache.sqlite", 2**28)
    yield cache
    cache.close()


def session(backend: FakeBackend, cache: Cache | None = None, run_id: str = "run", **callbacks: Any) -> GatewaySession:
    return Gateway(backend, cache).session(run_id, **callbacks)


def vectors(pieces: list[Piece]) -> np.ndarray:
    return np.stack([piece["vectors"] for piece in pieces])


def expected(texts: list[str], **options: Any) -> np.ndarray:
    """The vectors of the texts, each requested alone, so that no order can be mixed up."""
    alone = session(FakeBackend())
    return np.stack([alone.sentence_vectors(BERT, [text], **options)[0]["vectors"] for text in texts])


@settings(max_examples=30)
@given(texts=st.lists(st.text(max_size=90), max_size=30), n_known=st.integers(0, 30))
def test_answers_stand_in_the_order_of_the_texts(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], n_known: int
) -> None:
    cache = Cache(tmp_path_factory.mktemp("cache") / "c.sqlite", 2**26)
    backend = FakeBackend(n_parameters=LARGE)
    run_session = session(backend, cache)
    run_session.sentence_vectors(BERT, texts[::-1][:n_known])  # some of them are in the cache, in another order
    pieces = run_session.sentence_vectors(BERT, texts)
    assert len(pieces) == len(texts)
    if texts:
        np.testing.assert_array_equal(vectors(pieces), expected(texts))
    assert backend.n_items("sentence_vectors") == len(set(texts))
    backend.close()
    cache.close()


def test_equal_texts_are_computed_once() -> None:
    backend = FakeBackend()
    pieces = session(backend).sentence_vectors(BERT, ["猫", "犬", "猫", "猫"])
    assert backend.n_items("sentence_vectors") == 2
    assert pieces[0] is pieces[2] is pieces[3] is not pieces[1]


def test_work_goes_out_in_chunks_and_all_of_it(cache: Cache) -> None:
    backend = FakeBackend(n_parameters=LARGE)
    pieces = session(backend, cache).sentence_vectors(BERT, TEXTS)
    np.testing.assert_array_equal(vectors(pieces), expected(TEXTS))
    sizes = [len(call.request["items"]) for call in backend.calls if call.operation == "sentence_vectors"]
    assert len(sizes) > 2 and sum(sizes) == len(TEXTS)
    assert all(call.run_id == "run" for call in backend.calls)


def test_a_repeated_run_asks_no_worker_at_all(tmp_path: Path) -> None:
    pairs = [(text, TEXTS[0]) for text in TEXTS]
    points = np.random.default_rng(0).standard_normal((9, 5))

    def everything(backend: FakeBackend) -> list[Any]:
        # A new cache and a new gateway each time, as after a restart.
        cache = Cache(tmp_path / "c.sqlite", 2**26)
        run_session = session(backend, cache)
        results = [
            run_session.describe(BERT),
            run_session.sentence_vectors(BERT, TEXTS, layers=[0, -1], pooling="mean"),
            run_session.token_similarities(BERT, pairs),
            run_session.project(points, method="umap", seed=3),
            run_session.token_log_likelihoods(BERT, TEXTS, scoring="pll-word-l2r"),
        ]
        cache.close()
        return results

    first = everything(FakeBackend())
    silent = FakeBackend()
    second = everything(silent)
    assert silent.calls == []
    assert first[0] == second[0]
    np.testing.assert_array_equal(vectors(first[1]), vectors(second[1]))
    for first_piece, second_piece in zip([*first[2], *first[4]], [*second[2], *second[4]], strict=True):
        assert first_piece.keys() == second_piece.keys()
        for name, value in first_piece.items():
            np.testing.assert_array_equal(value, second_piece[name])
    np.testing.assert_array_equal(first[3], second[3])


def test_one_changed_row_costs_one_row(cache: Cache) -> None:
    backend = FakeBackend()
    run_session = session(backend, cache)
    run_session.sentence_vectors(BERT, TEXTS)
    changed = [*TEXTS[:7], "別の文。", *TEXTS[8:]]
    np.testing.assert_array_equal(vectors(run_session.sentence_vectors(BERT, changed)), expected(changed))
    assert backend.calls[-1].request["items"] == ["別の文。"]


@pytest.mark.parametrize(
    "change",
    [
        {"pooling": "mean"},
        {"precision": "bf16"},
        {"layers": [1]},
        {"layers": [4, 1]},
        {"model": "fake/other"},
        {"model": "fake/bert@v2"},
        {"weights": "second"},
    ],
)
def test_whatever_changes_the_number_asks_again(cache: Cache, change: dict[str, Any]) -> None:
    session(FakeBackend(), cache).sentence_vectors(BERT, TEXTS)
    changed = {"model": BERT, **change}
    backend = FakeBackend(weights=changed.pop("weights", "first"))
    session(backend, cache).sentence_vectors(changed.pop("model"), TEXTS, **changed)
    assert backend.n_items("sentence_vectors") == len(TEXTS)


def test_the_same_layer_by_another_name_is_the_same(cache: Cache) -> None:
    backend = FakeBackend(n_layers=4)
    run_session = session(backend, cache)
    for layers in (None, [4], [-1]):
        run_session.sentence_vectors(BERT, ["猫"], layers=layers)
    assert backend.n_items("sentence_vectors") == 1
    assert backend.calls[-1].request["settings"]["layers"] == [4]


def test_settings_that_do_not_apply_change_nothing(cache: Cache) -> None:
    backend = FakeBackend()
    run_session = session(backend, cache)
    run_session.token_log_likelihoods("gpt", ["猫"], scoring="causal", words="mecab")
    run_session.token_log_likelihoods("gpt", ["猫"], scoring="causal", words="auto")
    assert backend.n_items("token_log_likelihoods") == 1
    run_session.token_log_likelihoods("gpt", ["猫"], scoring="causal", leading_space=True)
    assert backend.n_items("token_log_likelihoods") == 2


def test_prefixes_that_are_the_same_tokens_are_computed_once(cache: Cache) -> None:
    backend = FakeBackend()  # its BOS is <s>, it has no EOS, and its template is empty
    run_session = session(backend, cache)

    def computed_after(*choices: str) -> int:
        for prefix in choices:
            run_session.token_log_likelihoods("gpt", ["猫"], scoring="causal", prefix=prefix)
        return backend.n_items("token_log_likelihoods")

    assert computed_after("auto", "bos") == 1
    assert backend.calls[-1].request["settings"]["prefix"] == ["<s>"]
    assert computed_after("none", "template", "eos") == 2
    assert backend.calls[-1].request["settings"]["prefix"] == []
    with pytest.raises(InputError, match="one of auto, bos, eos, template, none; got '<s>'"):
        run_session.token_log_likelihoods("gpt", ["猫"], scoring="causal", prefix="<s>")


def test_what_an_encoder_reads_is_in_a_key_where_a_decoder_scores() -> None:
    backend = FakeBackend()
    run_session = session(backend)
    ways: list[dict[str, str]] = [
        {},
        {"encoder_reads": "text", "encoder_text": "雨"},
        {"encoder_reads": "sentence", "encoder_text": "雨"},
    ]
    for way in ways:
        run_session.token_log_likelihoods("gpt", ["猫"], scoring="seq2seq", words="mecab", **way)
    asked = [call.request["settings"] for call in backend.calls if call.operation == "token_log_likelihoods"]
    assert [{name: value for name, value in given.items() if name != "precision"} for given in asked] == [
        {"scoring": "seq2seq", "encoder_reads": "nothing"},
        {"scoring": "seq2seq", "encoder_reads": "text", "encoder_text": "雨"},
        {"scoring": "seq2seq", "encoder_reads": "sentence"},
    ]


def test_pairs_are_kept_apart_by_where_they_are_divided() -> None:
    facts = session(FakeBackend()).describe(BERT)
    pairs = [["ab", "c"], ["a", "bc"], ["abc", ""], ["c", "ab"], ["ab", "c"]]
    made = keys.item_keys("token_similarities", facts, {}, pairs)
    assert len(set(made)) == 4 and made[0] == made[4]


def test_a_key_holds_all_that_changes_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = session(FakeBackend()).describe(BERT)

    def key(facts: Any = facts, operation: str = "sentence_vectors", settings: Any = ("cls",), item: str = "猫") -> str:
        return keys.item_keys(operation, facts, {"pooling": settings}, [item])[0]

    different = [
        key(),
        key(replace(facts, fingerprint="other")),
        key(replace(facts, tokenizer_fingerprint="other")),
        key(replace(facts, device="cuda:0")),
        key(replace(facts, dtype="bfloat16")),
        key(operation="other"),
        key(settings="mean"),
        key(item="犬"),
        key(item="\ud800"),
    ]
    monkeypatch.setattr(keys, "library_versions", lambda names: dict.fromkeys(names, "99"))
    different.append(key())
    monkeypatch.setattr(keys, "_code_digest", lambda: "edited")
    different.append(key())
    assert len(set(different)) == len(different)
    # Names and places do not: the same files elsewhere give the same numbers, on one card as on the next.
    assert key(replace(facts, name="other", path="elsewhere", device="cpu:1")) == key()


def test_versions_are_read_without_importing() -> None:
    versions = library_versions(("numpy", "no-such-library"))
    assert versions == {"numpy": np.__version__, "no-such-library": "absent"}


class OnDisk(FakeBackend):
    """Models are local directories."""

    def locate(self, model: str, revision: str | None = None, report: Any = None) -> LocatedModel:
        return LocatedModel(model, "directory", Path(model).resolve())


def test_a_directory_is_described_again_when_a_file_of_it_changed(tmp_path: Path, cache: Cache) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    backend = OnDisk()
    for model, n_described in (("a", 1), ("a", 1), ("b", 2), ("a", 2)):
        facts = session(backend, cache).describe(str(tmp_path / model))
        assert facts.name == str(tmp_path / model) and backend.n_items("describe") == n_described
    (tmp_path / "a" / "config.json").write_text("{ }")
    run_session = session(backend, cache)
    run_session.describe(str(tmp_path / "a"))
    assert backend.n_items("describe") == 3
    (tmp_path / "a" / "vocab.txt").write_text("")
    run_session.describe(str(tmp_path / "a"))
    assert backend.n_items("describe") == 3  # within one session a model stays what it was
    session(backend, cache).describe(str(tmp_path / "a"))
    assert backend.n_items("describe") == 4


def test_the_worker_is_told_exactly_which_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my@model").mkdir()
    monkeypatch.chdir(tmp_path)
    backend = OnDisk()
    facts = session(backend).describe("my@model")
    assert facts.name == "my@model"
    assert backend.calls[0].request["model"] == str(tmp_path / "my@model")  # a worker may stand elsewhere
    hub = FakeBackend()
    session(hub).sentence_vectors("owner/name@v2", ["猫"])
    commit = hub.locate("owner/name", "v2").commit
    assert [(call.request["model"], call.request["revision"]) for call in hub.calls] == [("owner/name", commit)] * 2


def test_an_unknown_model_is_said_to_be_so() -> None:
    with pytest.raises(ModelError, match="missing/model"):
        session(FakeBackend()).sentence_vectors("missing/model", ["猫"])


def test_what_the_worker_says_of_a_model_passes_through(cache: Cache) -> None:
    backend = FakeBackend(errors={"": ModelError("Its weights hold code.")})  # describe asks with one empty item
    for _ in range(2):
        with pytest.raises(ModelError, match="hold code"):
            session(backend, cache).describe(BERT)
    assert backend.n_items("describe") == 2


def test_an_excluded_item_is_kept_with_its_reason(cache: Cache) -> None:
    backend = FakeBackend(max_tokens=10)
    for _ in range(2):
        pieces = session(backend, cache).sentence_vectors(BERT, ["短い", "長" * 30])
        assert "vectors" in pieces[0] and "32 tokens" in pieces[1]["excluded"]
    assert backend.n_items("sentence_vectors") == 2


def test_shared_tokens_are_kept_by_pair_and_precision_and_cut_as_pseudo_likelihoods_are(cache: Cache) -> None:
    backend = FakeBackend(n_parameters=LARGE)
    pairs = [(text, text.replace("文", "話")) for text in TEXTS]
    run_session = session(backend, cache)
    for _ in range(2):
        pieces = run_session.shared_token_log_likelihoods(BERT, pairs)
        assert [len(piece["tokens"]) for piece in pieces] == [len(text) - 1 for text in TEXTS]
    assert backend.n_items("shared_token_log_likelihoods") == len(TEXTS)
    # a copy of a sentence for each token: a pair of 40 characters is more than a chunk's 200
    assert sum(call.operation == "shared_token_log_likelihoods" for call in backend.calls) == len(TEXTS)
    run_session.shared_token_log_likelihoods(BERT, [(second, first) for first, second in pairs])
    run_session.shared_token_log_likelihoods(BERT, pairs, precision="bf16")
    assert backend.n_items("shared_token_log_likelihoods") == 3 * len(TEXTS)


def test_token_lists_are_never_kept(cache: Cache) -> None:
    backend = FakeBackend()
    run_session = session(backend, cache)
    for _ in range(2):
        tokens = [piece["tokens"] for piece in run_session.token_lists(BERT, ["猫と犬", "犬", "犬"])]
        assert tokens == [["猫", "と", "犬"], ["犬"], ["犬"]]
    assert backend.n_items("token_lists") == 4


def test_counts_are_kept_and_progress_is_that_of_the_whole(cache: Cache) -> None:
    backend = FakeBackend()
    reports: list[tuple[int, int, str]] = []
    run_session = session(backend, cache, on_progress=lambda *report: reports.append(report))
    pieces = run_session.document_counts(BERT, [["猫犬", "猫"], ["鳥"]], within=(100, 300, 900))
    assert [piece["n_documents"] for piece in pieces] == [2, 1] and pieces[0]["documents"].tolist() == [1, 2]
    assert [report[:2] for report in reports if report[2].startswith("Counting")] == [(100, 900), (300, 900)]
    n_computed = backend.n_items("document_counts")
    assert run_session.document_counts(BERT, [["鳥"], ["猫犬", "猫"]])[1]["tokens"] == pieces[0]["tokens"]
    assert backend.n_items("document_counts") == n_computed == 2


def test_words_are_counted_without_a_model(cache: Cache) -> None:
    backend = FakeBackend()
    reports: list[tuple[int, int, str]] = []
    run_session = session(backend, cache, on_progress=lambda *report: reports.append(report))
    pieces = run_session.word_counts([["斉藤は斉藤", "猫"], ["猫"], []], within=(100, 400, 900))
    assert pieces[0]["tokens"] == ["斉藤", "は", "猫"] and pieces[0]["occurrences"].tolist() == [2, 1, 1]
    assert [piece["n_documents"] for piece in pieces] == [2, 1, 0]
    assert [report[:2] for report in reports] == [(100, 900), (200, 900), (300, 900), (400, 900)]
    assert {call.operation for call in backend.calls} == {"word_counts"}
    assert run_session.word_counts([]) == []


def test_a_map_is_known_by_the_content_of_its_vectors(cache: Cache) -> None:
    backend = FakeBackend()
    points = np.arange(20, dtype=np.float32).reshape(5, 4)
    run_session = session(backend, cache)
    requested = (
        (points, 0, 1),
        (points.copy(), 0, 1),
        (points, 1, 2),
        (points.reshape(4, 5), 0, 3),
        (points.astype(np.float64), 0, 4),
        (np.asfortranarray(points), 0, 4),
    )
    for points_, seed, n_computed in requested:
        coordinates = run_session.project(points_, method="umap", seed=seed)
        np.testing.assert_array_equal(coordinates, points_[:, :2] + seed)
        assert backend.n_items("project") == n_computed
    with pytest.raises(InputError, match="at least 4"):
        run_session.project(points[:3], method="umap")


def test_what_is_measured_on_vectors_is_known_by_vectors_and_settings(cache: Cache) -> None:
    backend = FakeBackend()
    reports: list[tuple[int, int, str]] = []
    run_session = session(backend, cache, on_progress=lambda *now: reports.append(now))
    points, class_of = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32), [0, 1] * 4
    for vectors_, classes, n, seed, n_computed in (
        (points, class_of, 100, 0, 1),
        (points.copy(), [*class_of], 100, 0, 1),
        (points, class_of, 100, 1, 2),
        (points, sorted(class_of), 100, 0, 3),
        (points, class_of, 101, 0, 4),
        (points * 2, class_of, 100, 0, 5),
    ):
        piece = run_session.on_vectors("bootstrap", vectors_, label="Draws", class_of=classes, n_resamples=n, seed=seed)
        expected_ = bootstrap(vectors_, classes, n_resamples=n, seed=seed)
        np.testing.assert_array_equal(piece["in_class"], expected_.in_class)
        assert backend.n_items("bootstrap") == n_computed
    assert reports == [(0, 1, "Draws"), (1, 1, "Draws")] * 5  # cached results are not reported
    for _ in range(2):
        alike = run_session.on_vectors(
            "cluster_validity",
            np.ones((4, 2), np.float32),
            label="",
            class_of=[0, 0, 1, 1],
            seed=0,
            functions={"silhouette": "engine.measures.clusters.validity:silhouette"},
        )
        assert np.isnan(alike["silhouette"])  # from the cache too
    with pytest.raises(Cancelled):
        session(backend, cache, is_cancelled=lambda: True).on_vectors("bootstrap", points, label="", class_of=class_of)


def test_progress_counts_cached_items_at_once_and_ends_at_the_total(cache: Cache) -> None:
    backend = FakeBackend(n_parameters=LARGE)
    session(backend, cache).sentence_vectors(BERT, TEXTS[:10])
    reports: list[tuple[int, int, str]] = []
    session(backend, cache, on_progress=lambda *now: reports.append(now)).sentence_vectors(BERT, [*TEXTS, *TEXTS[:5]])
    assert {label for _, _, label in reports} == {f"Sentence vectors: {BERT}"}
    assert {total for _, total, _ in reports} == {45}
    done = [n for n, _, _ in reports]
    assert done[0] == 15 and done[-1] == 45 and len(done) > 3  # the ten known, five of them twice
    assert done == sorted(set(done))
    reports.clear()
    session(backend, cache, on_progress=lambda *now: reports.append(now)).sentence_vectors(BERT, TEXTS)
    assert [now[:2] for now in reports] == [(40, 40)]


def test_a_chunk_is_in_the_cache_before_it_is_told(cache: Cache) -> None:
    backend = FakeBackend(n_parameters=LARGE)
    facts = session(backend, cache).describe(BERT)
    options = {"pooling": "cls", "precision": "fp32", "layers": [4]}
    text_keys = keys.item_keys("sentence_vectors", facts, options, TEXTS)
    in_cache: list[tuple[int, int]] = []

    def on_progress(done: int, total: int, label: str) -> None:
        in_cache.append((done, len(cache.get_many(text_keys))))

    session(backend, cache, on_progress=on_progress).sentence_vectors(BERT, TEXTS)
    assert all(done == n_cached for done, n_cached in in_cache) and in_cache[-1] == (40, 40)


def test_what_was_finished_before_an_error_is_not_computed_again(cache: Cache) -> None:
    # The longest texts are asked first, so the shortest is in the last chunk.
    failing = FakeBackend(n_parameters=LARGE, errors={min(reversed(TEXTS), key=len): WorkerDied("twice")})
    with pytest.raises(WorkerDied, match="twice"):
        session(failing, cache).sentence_vectors(BERT, TEXTS)
    last = len(failing.calls[-1].request["items"])
    backend = FakeBackend(n_parameters=LARGE)
    session(backend, cache).sentence_vectors(BERT, TEXTS)
    assert backend.n_items("sentence_vectors") == last


def test_an_error_takes_the_rest_of_the_run_out_of_the_queue(cache: Cache) -> None:
    backend = FakeBackend(n_parameters=LARGE, errors={TEXTS[0]: ModelError("no")})
    with pytest.raises(ModelError):
        session(backend, cache, run_id="mine").sentence_vectors(BERT, TEXTS)
    assert backend.cancelled == ["mine"]


def test_cancelling_is_heard_while_a_chunk_is_waited_for(cache: Cache) -> None:
    gate, stop = threading.Event(), threading.Event()
    backend = FakeBackend(gate=gate)
    raised: list[BaseException] = []

    def work() -> None:
        try:
            session(backend, cache, run_id="mine", is_cancelled=stop.is_set).sentence_vectors(BERT, TEXTS)
        except Cancelled as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while not backend.calls:
        time.sleep(0.01)
    stop.set()
    thread.join(timeout=5)
    assert not thread.is_alive() and len(raised) == 1
    assert backend.cancelled == ["mine"]
    gate.set()


def test_cancelling_is_heard_before_anything_is_asked() -> None:
    backend = FakeBackend()
    with pytest.raises(Cancelled):
        session(backend, is_cancelled=lambda: True).sentence_vectors(BERT, TEXTS)
    assert backend.calls == [] and backend.n_located == 0


def test_a_run_cancelled_at_the_backend_is_cancelled() -> None:
    gate = threading.Event()
    gate.set()
    backend = FakeBackend(n_parameters=LARGE, gate=gate)
    run_session = session(backend, run_id="mine")
    run_session.describe(BERT)
    gate.clear()

    def cancel() -> None:
        while len(backend.calls) < 4:  # the description, a chunk that runs and two that wait
            time.sleep(0.01)
        backend.cancel("mine")
        gate.set()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Cancelled):
        run_session.sentence_vectors(BERT, TEXTS)
    thread.join()


def test_cancelling_stops_a_download() -> None:
    stop = threading.Event()

    class Downloading(FakeBackend):
        def locate(self, model: str, revision: str | None = None, report: Any = None) -> LocatedModel:
            for done in range(100):
                report(done, 100, f"downloading {model}")
                if done == 3:
                    stop.set()
            raise AssertionError("not stopped")

    reports: list[tuple[int, int, str]] = []
    with pytest.raises(Cancelled):
        session(Downloading(), on_progress=lambda *now: reports.append(now), is_cancelled=stop.is_set).describe(BERT)
    assert reports[-1] == (3, 100, f"downloading {BERT}")


def test_a_backend_that_loses_items_is_found_out() -> None:
    class Losing(FakeBackend):
        def _chunk(self, operation: str, request: Any) -> list[Piece]:
            pieces = super()._chunk(operation, request)
            return pieces if operation == "describe" else pieces[1:]

    with pytest.raises(RuntimeError, match="39 pieces for 40 items"):
        session(Losing()).sentence_vectors(BERT, TEXTS)


def test_sessions_in_threads_share_a_gateway(cache: Cache) -> None:
    backend = FakeBackend(n_parameters=LARGE)
    gateway = Gateway(backend, cache)
    results: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        results[number] = vectors(gateway.session(f"run{number}").sentence_vectors(BERT, TEXTS[number : number + 30]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(6):
        np.testing.assert_array_equal(results[number], expected(TEXTS[number : number + 30]))


class TestChunks:
    @given(
        lengths=st.lists(st.integers(0, 400), max_size=60),
        n_parameters=st.sampled_from([10**6, 10**8, 10**10]),
        scoring=st.sampled_from(["causal", "pll-original"]),
    )
    def test_slices_are_consecutive_none_empty_and_within_the_budget(
        self, lengths: list[int], n_parameters: int, scoring: str
    ) -> None:
        facts = session(FakeBackend(n_parameters=n_parameters)).describe(BERT)
        texts = ["あ" * length for length in lengths]
        slices = chunk_slices("token_log_likelihoods", facts, {"scoring": scoring}, texts)
        assert [text for part in slices for text in texts[part]] == texts
        assert all(texts[part] for part in slices)
        power = 1 if scoring == "causal" else 2
        budget = {10**6: 50_000, 10**8: 1000, 10**10: 200}[n_parameters]
        for part in slices:
            cost = sum((SPECIAL_TOKENS + len(text)) ** power for text in texts[part])
            assert cost <= budget or len(texts[part]) == 1

    def test_letters_count_as_the_share_of_a_token_that_they_are(self) -> None:
        facts = replace(session(FakeBackend(n_parameters=10**8)).describe(BERT), latin_tokens=0.25)
        # 1,000 to a chunk: 4 + 96 / 4 = 28 of an English text, 4 + 96 of a Japanese one, 4 + 48 + 48 / 4 of both
        for text, n in (("a" * 96, 35), ("あ" * 96, 10), ("aあ" * 48, 15)):
            assert chunk_slices("sentence_vectors", facts, {}, [text] * 100)[0] == slice(0, n)
        # a pair of both: 4 + 24 + 96 = 124
        assert chunk_slices("token_similarities", facts, {}, [["a" * 96, "あ" * 96]] * 100)[0] == slice(0, 8)
        # every token is masked in a copy: 28 times 28 is 784
        pll = ("token_log_likelihoods", facts, {"scoring": "pll-original"})
        assert chunk_slices(*pll, ["a" * 96] * 9)[0] == slice(0, 1)
        assert chunk_slices(*pll, ["a" * 40] * 9)[0] == slice(0, 5)  # 14²

    def test_neighbours_share_what_can_be_shared(self) -> None:
        texts = ["the cat", "a dog", "the car sings"]
        assert chunk_order("token_log_likelihoods", {"scoring": "causal"}, texts) == [1, 2, 0]
        assert chunk_order("token_log_likelihoods", {"scoring": "pll-original"}, texts) == [2, 0, 1]
        assert chunk_order("sentence_vectors", {}, texts) == [2, 0, 1]
        pairs = [["short", "a"], ["a longer one", "b"], ["short", "c"], ["other", "d"]]
        assert chunk_order("token_similarities", {}, pairs) == [1, 3, 0, 2]
        assert chunk_order("document_counts", {}, [texts, texts]) == [0, 1]

    def test_a_larger_model_has_smaller_chunks_and_a_card_larger_ones(self) -> None:
        facts = session(FakeBackend(n_parameters=10**8)).describe(BERT)
        texts = ["あ" * 40] * 1000

        def n_chunks(facts: Any, operation: str = "sentence_vectors") -> int:
            return len(chunk_slices(operation, facts, {}, texts))

        assert n_chunks(replace(facts, n_parameters=10**7)) < n_chunks(facts)
        assert n_chunks(replace(facts, device="cuda:1")) < n_chunks(facts)
        assert n_chunks(facts, "token_lists") == 1


def test_a_label_changes_nothing_but_the_name_of_the_facts(cache: Cache) -> None:
    backend = FakeBackend()
    plain = session(backend, cache).sentence_vectors(BERT, TEXTS)
    computed = len(backend.calls)
    labelled_session = session(backend, cache)
    labelled = labelled_session.sentence_vectors(f"BERT v3={BERT}", TEXTS)
    np.testing.assert_array_equal(vectors(labelled), vectors(plain))
    assert len(backend.calls) == computed  # every piece, the facts too, comes from the cache
    facts = session(backend, cache).describe(BERT)
    assert labelled_session.describe(f"BERT v3={BERT}") == replace(facts, name=f"BERT v3={BERT}")
    assert (
        session(FakeBackend()).describe(f"x={BERT}@v1").revision
        == session(FakeBackend()).describe(f"{BERT}@v1").revision
    )


def test_word_boundaries_are_in_the_key_only_where_they_are_asked_for_and_can_be(cache: Cache) -> None:
    """Pieces without them stay valid: the settings of a request without them are what they were before."""
    backend = FakeBackend()
    run_session = session(backend, cache)
    run_session.token_log_likelihoods("gpt", ["猫"], scoring="causal")
    before = backend.calls[-1].request["settings"]
    assert before == {"scoring": "causal", "precision": "fp32", "prefix": ["<s>"], "leading_space": False}
    facts = run_session.describe("gpt")
    run_session.token_log_likelihoods("gpt", ["猫"], scoring="causal", word_boundaries=False)
    assert backend.n_items("token_log_likelihoods") == 1
    run_session.token_log_likelihoods("gpt", ["猫"], scoring="causal", word_boundaries=True)
    asked = backend.calls[-1].request["settings"]
    assert asked == {**before, "word_boundaries": True} and backend.n_items("token_log_likelihoods") == 2
    assert keys.item_keys("token_log_likelihoods", facts, before, ["猫"]) != keys.item_keys(
        "token_log_likelihoods", facts, asked, ["猫"]
    )
    run_session.token_log_likelihoods(BERT, ["猫"], scoring="pll-original", word_boundaries=True)
    assert "word_boundaries" not in backend.calls[-1].request["settings"]


def test_a_continuation_is_kept_by_its_context_prefix_and_chat_template(cache: Cache) -> None:
    backend = FakeBackend()
    run_session = session(backend, cache)

    def n_computed(*items: tuple[str, ...], **settings: Any) -> int:
        before = backend.n_items("continuation_log_likelihoods")
        run_session.continuation_log_likelihoods("gpt", items, **settings)
        return backend.n_items("continuation_log_likelihoods") - before

    assert n_computed(("a ", "b"), ("a ", "b")) == 1 and n_computed(("a ", "b")) == 0
    assert backend.calls[-1].request["settings"].keys() == {"precision", "prefix"}
    assert n_computed(("a", " b"), ("a ", "b", "c")) == 2
    assert n_computed(("a ", "b"), prefix="none") == 1
    with pytest.raises(InputError, match="The tokenizer of gpt has no chat template"):
        n_computed(("a ", "b"), chat=True)


@pytest.mark.parametrize(
    "setting", [{"pooling": "mean"}, {"prompt": "query: "}, {"truncate_dim": 2}, {"precision": "bf16"}], ids=str
)
def test_every_setting_of_vectors_reaches_the_model_and_has_pieces_of_its_own(
    cache: Cache, setting: dict[str, Any]
) -> None:
    backend = FakeBackend()
    run_session = session(backend, cache)
    plain = run_session.sentence_vectors(BERT, ["猫"])
    ((name, value),) = setting.items()
    assert backend.calls[-1].request["settings"].get(name) != value
    run_session.sentence_vectors(BERT, ["猫"], **setting)
    assert backend.calls[-1].request["settings"][name] == value and backend.n_items("sentence_vectors") == 2
    again = run_session.sentence_vectors(BERT, ["猫"])  # from the cache, and not that of the other setting
    assert backend.n_items("sentence_vectors") == 2
    np.testing.assert_array_equal(vectors(again), vectors(plain))
