"""How a sentence becomes a vector, settled for each model before any works."""

from dataclasses import replace

import pytest

from engine.errors import InputError, ModelError
from engine.evaluations.clusters.records import Settings
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.shared.vectors.sentence_vectors import cut_notice, vector_requests
from engine.models.sources.published_vectors import PublishedVectors
from engine.options import check
from engine.runs.storage.json_codec import record_from_json, to_json_value
from tests.support.session_fake import facts

PUBLISHED = PublishedVectors(
    "/m",
    (("Pooling", "1_Pooling"),),
    "pooling mean, Normalize",
    128,
    False,
    {"query": "query: ", "passage": "passage: ", "document": ""},
    "passage",
    256,
)
RURI = replace(facts("ruri", "encoder"), published=PUBLISHED)
BERT = facts("bert", "masked")
GPT = facts("gpt", "causal")


def request(model: object = RURI, **settings: object) -> tuple[str, str, int | None]:
    found = vector_requests(Settings(("m",), **settings), [model])  # type: ignore[arg-type, list-item]
    [only] = found.values()
    return only.pooling, only.prompt, only.truncate_dim


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ("published", "passage: ", 256)),
        ({"prompt_name": "query"}, ("published", "query: ", 256)),
        ({"prompt_name": "document"}, ("published", "", 256)),
        ({"prompt": ""}, ("published", "", 256)),
        ({"prompt": "検索クエリ: ", "truncate_dim": 64}, ("published", "検索クエリ: ", 64)),
        # Another pooling leaves prompt and dimensions to the user.
        ({"pooling": "mean"}, ("mean", "", None)),
        ({"pooling": "cls", "prompt_name": "query"}, ("cls", "query: ", None)),
    ],
)
def test_what_a_model_is_asked(settings: dict[str, object], expected: tuple[str, str, int | None]) -> None:
    assert request(**settings) == expected


def test_one_number_of_a_vector_may_be_kept() -> None:
    check(Settings(("m",), truncate_dim=1))
    with pytest.raises(InputError, match="truncate_dim is at least 1; got 0"):
        check(Settings(("m",), truncate_dim=0))


def test_models_whose_files_do_not_say_are_pooled_as_the_evaluation_has_it() -> None:
    requests = vector_requests(Settings(("bert", "ruri")), [BERT, RURI])
    assert requests["bert"].description == "cls"
    assert requests["ruri"].description == (
        "as published (pooling mean, Normalize), prompt 'passage: ', 256 dimensions"
    )
    study = metric_study.Settings(("bert",))
    assert vector_requests(study, [BERT], otherwise="mean-without-special")["bert"].pooling == "mean-without-special"


def test_what_cannot_be_is_said_before_any_model_works() -> None:
    with pytest.raises(InputError, match="not both"):
        request(prompt="a", prompt_name="query")
    with pytest.raises(ModelError, match=r"no|has none"):
        request(BERT, prompt_name="query")
    with pytest.raises(ModelError, match=r"'sts'; it has 'query', 'passage', 'document'"):
        request(prompt_name="sts")
    with pytest.raises(ModelError, match=r"No CLS token: gpt, gpt2\. Choose mean pooling"):
        vector_requests(Settings(("m",)), [GPT, BERT, replace(GPT, name="gpt2")])
    with pytest.raises(ModelError, match="as published: it has no Pooling"):
        request(replace(RURI, published=replace(PUBLISHED, problem="it has no Pooling")))


def test_sentences_that_were_cut_are_listed_by_row() -> None:
    pieces = [{"n_tokens": 5}, {"n_tokens": 200, "n_read": 128}, {"n_tokens": 300, "n_read": 128}]
    [notice] = cut_notice("ruri", pieces, [2, 3, 9])
    assert notice.startswith("ruri: 2 rows exceed the 128 tokens") and notice.endswith(": 3, 9.")
    assert cut_notice("bert", pieces[:1], [2]) == ()


@pytest.mark.parametrize("record", [Settings(("m",)), metric_study.Settings(("m",))])
def test_mean_of_earlier_versions_left_special_tokens_out(record: Settings) -> None:
    stored = to_json_value(replace(record, pooling="mean"))
    assert record_from_json(type(record), stored).pooling == "mean"
    earlier = {name: value for name, value in stored.items() if name not in ("prompt", "prompt_name", "truncate_dim")}
    assert record_from_json(type(record), earlier).pooling == "mean-without-special"
    assert record_from_json(type(record), {**earlier, "pooling": "cls"}).pooling == "cls"
