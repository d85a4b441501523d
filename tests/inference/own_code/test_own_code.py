"""Models with code of their own: the numbers of the plain class, where and only where the operator allows the code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.inference.own_code.backend import WithOwnCode
from engine.models import worker
from engine.models.sources.own_code.trusted import VARIABLE
from engine.processes.confinement.kernel import missing
from tests.inference.own_code import own_models
from tests.inference.own_code.own_models import allowed, ask, assert_equal_pieces, request_of
from tests.support import tiny_models
from tests.support.in_process import InProcess
from tests.waiting import SECONDS

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
SENTENCES = [*tiny_models.JAPANESE, tiny_models.ENGLISH[1], tiny_models.ENGLISH[3]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "plain")


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[WithOwnCode]:
    backend = WithOwnCode(InProcess(), [tmp_path / "data"])
    yield backend
    backend.close()


def test_a_masked_model_has_the_numbers_of_the_plain_class(
    plain: Path, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_models.masked(plain, tmp_path / "own")
    monkeypatch.setenv(VARIABLE, allowed(own))
    [facts], [expected] = ask(backend, "describe", own), ask(backend, "describe", plain)
    assert facts["architecture"] == "OwnBertForMaskedLM" and facts["own_code"].startswith("own@sha256:")
    same = ("kind", "n_layers", "hidden_size", "n_parameters", "vocab_size", "max_tokens", "tokenizer", "has_mask")
    assert {name: facts[name] for name in same} == {name: expected[name] for name in same}
    assert facts["fingerprint"] != expected["fingerprint"]
    assert facts["tokenizer_fingerprint"] != "" and facts["device"] == "cpu"
    settings = {"scoring": "pll-original", "precision": "fp32"}
    assert_equal_pieces(
        ask(backend, "token_log_likelihoods", own, SENTENCES, **settings),
        ask(backend, "token_log_likelihoods", plain, SENTENCES, **settings),
    )
    vectors = {"layers": [0, 1, 2], "pooling": "mean", "precision": "fp32"}
    assert_equal_pieces(
        ask(backend, "sentence_vectors", own, SENTENCES, **vectors),
        ask(backend, "sentence_vectors", plain, SENTENCES, **vectors),
    )
    [checks] = ask(backend, "loading_checks", own, precision="fp32")
    assert (checks["task"], checks["n_unused"], checks["reads_ahead"]) == ("masked", 0, None)


def test_a_causal_model_written_anew_has_the_numbers_of_gpt2(
    tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tiny_models.gpt2_byte_level(tmp_path / "plain")
    own = own_models.causal(plain, tmp_path / "own")
    monkeypatch.setenv(VARIABLE, allowed(own))
    assert ask(backend, "describe", own)[0]["kind"] == "causal"
    assert ask(backend, "loading_checks", own, precision="fp32")[0]["reads_ahead"] is False
    settings = {"scoring": "causal", "precision": "fp32", "prefix": [], "leading_space": False}
    assert_equal_pieces(
        ask(backend, "token_log_likelihoods", own, SENTENCES, **settings),
        ask(backend, "token_log_likelihoods", plain, SENTENCES, **settings),
    )
    vectors = {"layers": [0, 2], "pooling": "mean", "precision": "fp32"}  # by the trunk, without a class for it
    assert_equal_pieces(
        ask(backend, "sentence_vectors", own, SENTENCES, **vectors),
        ask(backend, "sentence_vectors", plain, SENTENCES, **vectors),
    )


@pytest.mark.parametrize(
    ("but", "words"),
    [
        ((".tril()", ""), "reads ahead: its probabilities of a token depend on the tokens after it"),
        (("MLP(config)", "nn.Identity()"), r"hold \d+ parts below the head .*mlp"),
        (("self.c_fc, self.c_proj = Linear", "self.c_fc2, self.c_proj = Linear"), r"lack \d+ parts .*c_fc2"),
    ],
)
def test_the_gate_is_that_of_every_model(
    but: tuple[str, str], words: str, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_models.causal(tiny_models.gpt2_byte_level(tmp_path / "plain"), tmp_path / "own", but=but)
    monkeypatch.setenv(VARIABLE, allowed(own))
    with pytest.raises(ModelError, match=words):
        ask(backend, "token_log_likelihoods", own, SENTENCES, scoring="causal", precision="fp32", prefix=[])


@pytest.mark.nightly
def test_rows_that_change_each_other_are_read_alone(
    tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed = ("return x + self.mlp(self.ln_2(x))", "return x + self.mlp(self.ln_2(x)) + x.mean(dim=0, keepdim=True)")
    own = own_models.causal(tiny_models.gpt2_byte_level(tmp_path / "plain"), tmp_path / "own", but=mixed)
    monkeypatch.setenv(VARIABLE, allowed(own))
    assert ask(backend, "loading_checks", own, precision="fp32")[0]["batching"] == "alone"
    settings = {"scoring": "causal", "precision": "fp32", "prefix": []}
    together = ask(backend, "token_log_likelihoods", own, SENTENCES[:3], **settings)
    alone = [ask(backend, "token_log_likelihoods", own, [text], **settings)[0] for text in SENTENCES[:3]]
    assert_equal_pieces(together, alone)


def test_a_tokenizer_of_its_own_makes_the_same_tokens(
    tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tiny_models.bert_japanese(tmp_path / "plain")
    own = own_models.own_tokenizer(plain, tmp_path / "own")
    monkeypatch.setenv(VARIABLE, allowed(own))
    assert ask(backend, "describe", own)[0]["tokenizer"] == "OwnTokenizer"
    assert_equal_pieces(
        ask(backend, "tokenized", own, tiny_models.JAPANESE), ask(backend, "tokenized", plain, tiny_models.JAPANESE)
    )


def test_refused_unless_exactly_this_code_is_allowed(
    plain: Path, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_models.masked(plain, tmp_path / "own", at_import=f"\nopen({str(tmp_path / 'run')!r}, 'w')")
    entry = allowed(own)
    for setting in ("", allowed(plain), entry[:-1] + ("0" if entry[-1] != "0" else "1")):
        monkeypatch.setenv(VARIABLE, setting)
        with pytest.raises(ModelError) as refused:
            ask(backend, "describe", own)
        assert "needs code from its own repository" in str(refused.value)
        assert f"HAKARI_TRUST_REMOTE_CODE to {entry}." in str(refused.value)
    monkeypatch.setenv(VARIABLE, entry)
    asked = request_of(own)
    assert asked["own_code"] == (entry,)
    (own / "modeling_own.py").write_bytes((own / "modeling_own.py").read_bytes() + b" ")
    with pytest.raises(ModelError, match="needs code from its own repository"):
        ask(backend, "describe", own)
    with pytest.raises(ModelError, match="no longer that with which the run began"):
        backend.run("describe", asked, "run").result(timeout=SECONDS)
    assert not (tmp_path / "run").exists()


def test_code_is_never_imported_in_a_process_that_is_not_confined(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.models.loading.own_classes import adopt

    own = own_models.masked(plain, tmp_path / "own", at_import=f"\nopen({str(tmp_path / 'run')!r}, 'w')")
    monkeypatch.setenv(VARIABLE, allowed(own))
    with pytest.raises(RuntimeError, match="confined process alone"):
        adopt(own, own, {"AutoModel": ("modeling_own", "OwnBertModel")})
    with pytest.raises(ModelError, match="needs code from its own repository"):  # a worker that serves others
        worker.run_chunk("describe", request_of(own))
    assert not (tmp_path / "run").exists()


def test_a_system_that_cannot_confine_refuses(
    plain: Path, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_models.masked(plain, tmp_path / "own")
    monkeypatch.setenv(VARIABLE, allowed(own))
    monkeypatch.setattr("engine.processes.confinement.kernel.landlock_version", lambda: 0)
    with pytest.raises(ModelError, match="confined process alone, and its kernel has no Landlock"):
        ask(backend, "describe", own)


def test_refused_where_the_data_would_be_readable(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = own_models.masked(plain, tmp_path / "own")
    (own / "data").mkdir()
    monkeypatch.setenv(VARIABLE, allowed(own))
    backend = WithOwnCode(InProcess(), [own / "data"])
    with pytest.raises(ModelError, match=r"is not run: it reads .*own, where the data of Hakari would be open"):
        ask(backend, "describe", own)
    backend.close()


def test_refused_where_a_link_leads_to_the_data(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = own_models.masked(plain, tmp_path / "own")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "runs.sqlite").touch()
    (own / "notes.txt").symlink_to(tmp_path / "data" / "runs.sqlite")
    monkeypatch.setenv(VARIABLE, allowed(own))
    backend = WithOwnCode(InProcess(), [tmp_path / "data"])
    with pytest.raises(ModelError, match=r"is not run: it reads .*runs\.sqlite"):
        ask(backend, "describe", own)
    backend.close()


@pytest.mark.nightly
def test_each_run_has_a_process_of_its_own(
    plain: Path, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_models.masked(plain, tmp_path / "own")
    monkeypatch.setenv(VARIABLE, allowed(own))
    asked = {**request_of(own, ["猫"]), "settings": {}}
    for run_id in ("first", "second"):
        backend.run("tokenized", asked, run_id).result(timeout=SECONDS)
    first, second = [pid for pid in backend.pids() if pid != 1]
    backend.run("tokenized", asked, "first").result(timeout=SECONDS)
    assert [pid for pid in backend.pids() if pid != 1] == [first, second]
    assert {state.pid for state in backend.workers()} == {first, second}
    backend.run("tokenized", asked, "third").result(timeout=SECONDS)  # once one of the two has had nothing to do
    assert len([pid for pid in backend.pids() if pid not in (1, first, second)]) == 1 and len(backend.pids()) <= 3
