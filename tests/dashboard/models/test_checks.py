"""What the checks of a model say, for each outcome."""

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from engine.models.sources.facts import LoadingChecks, ModelFacts, TokenCheck
from engine.models.sources.published_vectors import PublishedVectors
from tests.support.session_fake import facts

FACTS = replace(
    facts("m", "masked"),
    opening=("[CLS]",),
    template_tokens=("[CLS]", "[SEP]"),
    token_check=TokenCheck("tokenizer.json", False, 1000),
)
CHECKS = LoadingChecks("masked", "any", None, 0, (), (), 1.25)


def shown(facts: ModelFacts, checks: LoadingChecks | None = CHECKS) -> str:
    def script(facts, checks):  # type: ignore[no-untyped-def]  # its text alone is run
        from dashboard.models.checks import show_checks

        show_checks(facts, checks)

    app = AppTest.from_function(script, args=(facts, checks)).run()
    assert not app.exception
    return "\n".join(element.value for element in (*app.markdown, *app.caption))


def test_nothing_to_note() -> None:
    text = shown(FACTS)
    assert "as tokenizer.json says, on 1,000 texts" in text and "[CLS] … [SEP]" in text.replace("\\", "")
    assert "do not depend" in text.replace("does", "do") and ":material/info:" not in text
    assert "loaded and tried in 1.2 s" in text and "loaded" not in shown(FACTS, None)


def test_tokens_that_were_repaired_show_the_text() -> None:
    text = shown(replace(FACTS, token_check=TokenCheck("tokenizer.model", True, 1000, "　東京")))
    assert "otherwise than tokenizer.model" in text.replace("\\", "") and "東京" in text and "repaired" in text
    ids = shown(replace(FACTS, token_check=TokenCheck("spiece.model", True, 1000, "猫", "ids"))).replace("\\", "")
    assert "gives pieces other ids than spiece.model" in ids and "猫" in ids
    template = shown(replace(FACTS, token_check=TokenCheck("spiece.model", True, 1000, "猫", "template")))
    assert "other special tokens round a text" in template
    assert "made by the recipe" in shown(replace(FACTS, token_check=None))
    assert "no published file" in shown(replace(FACTS, token_check=TokenCheck("", False, 0)))
    assert "ids of all pieces are those of vocab.txt" in shown(
        replace(FACTS, token_check=TokenCheck("vocab.txt", False, 0))
    ).replace("\\", "")


def test_white_space_that_is_cut_otherwise_is_named() -> None:
    text = shown(replace(FACTS, token_check=TokenCheck("tokenizer.model", False, 1000, white_space="   ")))
    assert "on 1,000 texts" in text and "white space alone" in text and "'   '" in text


def test_published_vectors_are_described() -> None:
    published = PublishedVectors("/m", (), "pooling mean, Normalize", 128, True, {"query": "query: "}, "query", 256)
    text = shown(replace(FACTS, published=published)).replace("\\", "")
    for part in (
        "pooling mean, Normalize",
        "at most 128 tokens",
        "lower-cased",
        "256 dimensions",
        "query 'query: ' (default)",
    ):
        assert part in text
    assert "not possible, it has no Pooling" in shown(
        replace(FACTS, published=replace(published, problem="it has no Pooling"))
    )


def test_a_model_that_reads_ahead() -> None:
    assert "reads ahead" in shown(FACTS, replace(CHECKS, reads_ahead=True))
    assert "no prediction before a token changes" in shown(FACTS, replace(CHECKS, reads_ahead=False))
    assert "each is computed by itself" in shown(FACTS, replace(CHECKS, batching="alone"))
