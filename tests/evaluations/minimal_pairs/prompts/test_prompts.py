"""Prompted scores: the whole path against a plain loop over transformers, the vote, what is refused and left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.datasets.scores.files import read_scores
from engine.datasets.scores.matching import attached
from engine.errors import InputError
from engine.evaluations.minimal_pairs.comparison import comparisons
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.files import check_shown
from engine.evaluations.minimal_pairs.length_effects import slopes
from engine.evaluations.minimal_pairs.notices import not_exact
from engine.evaluations.minimal_pairs.prompts.tables import by_template
from engine.evaluations.minimal_pairs.prompts.templates import BUILT_IN, IN_TEMPLATE, YES_NO, Template, templates_of
from engine.evaluations.minimal_pairs.records import PairScoring, Result, Settings
from engine.evaluations.minimal_pairs.regions import of_region
from engine.evaluations.minimal_pairs.token_contributions import token_contributions
from engine.evaluations.minimal_pairs.views import available, decided, scores
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.language.words import uses_spaces
from engine.runs.storage.json_codec import record_from_json, to_json_value
from engine.runs.storage.packing import pack, unpack
from tests.evaluations.minimal_pairs.test_single_sentences import HEADER
from tests.support import tiny_models
from tests.support.in_process import KeptWorkers

SIDES = ("acceptable", "unacceptable")
PROMPTED = (IN_TEMPLATE, YES_NO, "prompt vote")
IN, SECOND, QUESTION = "A fine one:\n{sentence}", "So, {sentence}\nIndeed.", "{sentence} Fine?\nSay:"
OWN: dict[str, Any] = {"prompts": "own", "in_template": (IN, SECOND), "yes_no": (QUESTION,)}
PAIRS = MinimalPairs(
    "cats",
    ("The three cats sleep in it.", "She will go to Kyoto.", "The cats go.", "He bought books.", "It is rain."),
    ("The three cat sleep in it.", "She will goes to Kyoto tomorrow.", "The cat go.", "He buyed books.", "It is rain."),
    ("x",) * 5,
    tuple(range(1, 6)),
)
PROMPT_SETTINGS = ("prompts", "in_template", "yes_no", "answers", "chat_template")
CHAT = "{% for m in messages %}<{{ m['content'] }}>{% endfor %}{% if add_generation_prompt %}!{% endif %}"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    chats = tiny_models.gpt2_byte_level(folder / "chats")
    (chats / "chat_template.jinja").write_text(CHAT, encoding="utf-8")
    return {
        "bytes": tiny_models.gpt2_byte_level(folder / "bytes"),
        "other": tiny_models.gpt2_byte_level(folder / "other", seed=1),
        "bert": tiny_models.bert(folder / "bert"),
        "chats": chats,
    }


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache.sqlite", 10**8)


def test_a_score_is_shown_where_a_template_is_for_it_and_a_vote_of_pairs() -> None:
    in_template = Settings(("m",), prompts="own", in_template=(IN,))
    check_shown(PAIRS, PairScoring(), (IN_TEMPLATE, "prompt vote"), in_template)
    check_shown(PAIRS, PairScoring(), (YES_NO,), Settings(("m",), prompts="own", yes_no=(QUESTION,)))
    with pytest.raises(InputError, match="Yes/No: none of the templates is for that score"):
        check_shown(PAIRS, PairScoring(), (IN_TEMPLATE, YES_NO), in_template)
    judged = from_table(read_table(b"sentence,label\nThe cats go.,1\nThe cat go.,0\n", "judged.csv"))
    with pytest.raises(InputError, match="prompt vote: none of the templates is for that score; a vote is of pairs"):
        check_shown(judged, PairScoring(), (IN_TEMPLATE, "prompt vote"), in_template)


def evaluated(
    cache: Cache, workers: KeptWorkers, *models: Path, dataset: MinimalPairs = PAIRS, **settings: Any
) -> Result:
    return evaluate(Settings(tuple(map(str, models)), **settings), dataset, Gateway(workers, cache).session("a"))


def plain(folder: Path, before: str, after: str) -> float:
    """log p of a text after another, behind the BOS, by transformers alone: what joins both is counted from its start."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).double().eval()
    encoding = tokenizer(before + after, return_offsets_mapping=True)
    ids = [tokenizer.bos_token_id, *encoding["input_ids"]]
    with torch.no_grad():
        log_p = torch.log_softmax(model(torch.tensor([ids])).logits[0], -1)
    first = next(i for i, (_, end) in enumerate(encoding["offset_mapping"], 1) if end > len(before.rstrip()))
    return float(sum(log_p[i - 1, ids[i]] for i in range(first, len(ids))))


def expected(folder: Path, sentence: str) -> tuple[list[float], float]:
    """The log-probability in each of both templates, and the log-odds after the question."""
    in_template = [
        plain(folder, "A fine one:\n", sentence),
        plain(folder, "So, ", sentence + "\nIndeed."),
    ]
    question = f"{sentence} Fine?\nSay:"
    return in_template, plain(folder, question, " Yes") - plain(folder, question, " No")


def test_every_score_is_that_of_a_plain_loop(cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]) -> None:
    result = evaluated(cache, kept_workers, folders["bytes"], **OWN)
    found = {name: scores(result.pairs, name) for name in PROMPTED}
    for place in range(PAIRS.n):
        by_side = []
        for side, texts in enumerate((PAIRS.acceptable, PAIRS.unacceptable)):
            in_template, log_odds = expected(folders["bytes"], texts[place])
            assert found[IN_TEMPLATE][side][place] == pytest.approx(np.mean(in_template), abs=1e-4)
            assert found[YES_NO][side][place] == pytest.approx(log_odds, abs=1e-4)
            by_side.append([*in_template, log_odds])
        preferred = np.array(by_side[0]) > np.array(by_side[1])
        if place < PAIRS.n - 1:
            assert [of_side[place] for of_side in found["prompt vote"]] == [preferred.sum(), 3 - preferred.sum()]
    own = result.prompted[result.prompted["item"] == 0]
    assert own["template"].tolist() == [1, 2, 3] and own["score"].tolist() == [IN_TEMPLATE, IN_TEMPLATE, YES_NO]
    assert by_template(result)["text"].tolist() == [IN, SECOND, QUESTION]
    assert result.signature["templates"] == [IN, SECOND, QUESTION]
    assert result.signature["settings"]["prompts"] == "own"


def test_an_empty_template_is_the_log_likelihood(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    for further in ({}, {"leading_space": True}, {"prefix": "none"}):
        result = evaluated(cache, kept_workers, folders["bytes"], prompts="own", in_template=("{sentence}",), **further)
        for of_template, of_sentence in zip(scores(result.pairs, IN_TEMPLATE), scores(result.pairs, "LP"), strict=True):
            assert of_template == pytest.approx(of_sentence, abs=1e-4)
        assert set(PROMPTED) - set(available(result.pairs)) == {YES_NO}
        np.testing.assert_array_equal(decided(result.pairs, "prompt vote"), decided(result.pairs, "LP"))


def test_they_are_in_every_table_like_other_scores(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    result = evaluated(cache, kept_workers, folders["bytes"], folders["other"], **OWN)
    assert set(PROMPTED) < set(available(result.pairs)) and set(PROMPTED) <= set(slopes(result)["normalization"])
    for name in PROMPTED:
        assert len(comparisons(result, name)) == 1
        assert decided(result.pairs, name)[PAIRS.n - 1] == 0  # one sentence twice
    table = by_template(result)
    assert len(table) == 2 * 3 and set(table["n"]) == {PAIRS.n} and set(table["n_tied"]) == {1}
    for model in result.scored_models:
        pairs = result.pairs[(result.pairs["model"] == model).to_numpy()]
        alone = table[((table["model"] == model) & (table["score"] == YES_NO)).to_numpy()]
        assert alone["n_correct"].tolist() == [(decided(pairs, YES_NO) == 1).sum()]
    with pytest.raises(InputError, match="no token contributions"):
        token_contributions(result, str(folders["bytes"]), 1, YES_NO)
    assert set(PROMPTED).isdisjoint(available(of_region(result, "words that differ").pairs))
    clustered = by_template(result, "category")
    assert set(clustered["n_clusters"]) == {1}


def test_a_condition_is_scored_after_its_own_prefix(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    both = evaluated(cache, kept_workers, folders["bytes"], other_prefixes=("none",), **OWN)
    alone = evaluated(cache, kept_workers, folders["bytes"], prefix="none", **OWN)
    [condition] = both.conditions
    of_condition = both.pairs[(both.pairs["model"] == condition).to_numpy()].reset_index(drop=True)
    for name in PROMPTED:
        for one, other in zip(scores(of_condition, name), scores(alone.pairs, name), strict=True):
            np.testing.assert_array_equal(one, other)
    assert not np.allclose(scores(both.pairs[: PAIRS.n], IN_TEMPLATE)[0], scores(alone.pairs, IN_TEMPLATE)[0])


def test_a_sentence_too_long_for_a_template_leaves_its_pair_out_of_all_scores(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    long = "Cats " * 3 + "." * 45
    dataset = MinimalPairs("long", (*PAIRS.acceptable, long), (*PAIRS.unacceptable, "Cats."), ("x",) * 6, range(1, 7))  # type: ignore[arg-type]
    template = "cats " * 5 + "{sentence}"
    plain_run = evaluated(cache, kept_workers, folders["bytes"], dataset=dataset)
    assert len(plain_run.pairs) == 6
    result = evaluated(
        cache,
        kept_workers,
        folders["bytes"],
        dataset=dataset,
        prompts="own",
        in_template=(template,),
        yes_no=(QUESTION,),
    )
    assert result.pairs["row"].tolist() == [1, 2, 3, 4, 5] and set(result.prompted["row"]) == {1, 2, 3, 4, 5}
    assert "in template 1: It has" in str(result.excluded["reason"].iloc[0])


def test_a_changed_template_is_computed_anew_and_the_same_is_not(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    def missed(**settings: Any) -> int:
        before = kept_workers.statistics.read().misses
        evaluated(cache, kept_workers, folders["bytes"], **settings)
        return kept_workers.statistics.read().misses - before

    n_sentences = len(set(PAIRS.sentences))
    missed()
    assert missed() == 0
    assert missed(**OWN) == 3 * n_sentences
    assert missed(**OWN) == 0 and missed(**(OWN | {"yes_no": ()})) == 0
    assert missed(**(OWN | {"in_template": (IN, "So; {sentence}\nIndeed.")})) == n_sentences
    assert missed(**(OWN | {"answers": ("Sure", "No")})) == n_sentences
    assert missed(**(OWN | {"prefix": "none"})) == 4 * n_sentences


def test_questions_in_the_chat_template_of_the_tokenizer(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path], tmp_path: Path
) -> None:
    chat = evaluated(cache, kept_workers, folders["chats"], chat_template=True, **OWN)
    without = evaluated(cache, kept_workers, folders["chats"], **OWN)
    tokenizer = AutoTokenizer.from_pretrained(folders["chats"])
    model = AutoModelForCausalLM.from_pretrained(folders["chats"]).double().eval()

    def log_p(context: str, answer: str) -> float:
        before, after = (tokenizer(text)["input_ids"] for text in (context, answer))
        assert tokenizer(context + answer)["input_ids"] == [*before, *after]
        with torch.no_grad():
            distribution = torch.log_softmax(model(torch.tensor([[*before, *after]])).logits[0], -1)
        return float(sum(distribution[len(before) + i - 1, token] for i, token in enumerate(after)))

    for sentence, found in zip(PAIRS.acceptable, scores(chat.pairs, YES_NO)[0], strict=True):
        context = f"<{sentence} Fine?\nSay:>!"  # no prefix: the template says all that is read
        assert found == pytest.approx(log_p(context, "Yes") - log_p(context, "No"), abs=1e-4)
    for one, other in zip(scores(chat.pairs, IN_TEMPLATE), scores(without.pairs, IN_TEMPLATE), strict=True):
        np.testing.assert_array_equal(one, other)
    assert "chat template" in chat.rules[str(folders["chats"])]
    with pytest.raises(InputError, match="has no chat template"):
        evaluated(cache, kept_workers, folders["bytes"], chat_template=True, **OWN)


def test_what_has_none_is_said_by_model(cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]) -> None:
    result = evaluated(cache, kept_workers, folders["bytes"], folders["bert"], **OWN)
    assert set(PROMPTED).isdisjoint(available(result.pairs))
    said = [notice for notice in result.notices if "templates" in notice or "Prompted" in notice]
    assert said == [
        f"{folders['bert']}: only causal models that are loaded here are scored in templates: there is no in-template LP, "
        "no Yes/No probability and no vote.",
        "Prompted scores are there where every model has them: score the others in a run of their own.",
    ]
    with pytest.raises(InputError, match="in-template LP needs sentences scored in templates under every model"):
        scores(result.pairs, IN_TEMPLATE)
    own = result.pairs[(result.pairs["model"] == str(folders["bytes"])).to_numpy()]
    assert set(PROMPTED) < set(available(own))


def test_an_even_number_of_predictions_may_tie_and_a_notice_says_so(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    result = evaluated(cache, kept_workers, folders["bytes"], prompts="own", in_template=(IN,), yes_no=(QUESTION,))
    assert any("The vote is of 2 predictions, an even number" in notice for notice in result.notices)
    assert any("predictions at random are correct in fewer than 50%" in notice for notice in result.notices)
    first, second = decided(result.pairs, IN_TEMPLATE), decided(result.pairs, YES_NO)
    np.testing.assert_array_equal(decided(result.pairs, "prompt vote"), np.sign(first.astype(int) + second))
    assert not any(
        "even number" in notice for notice in evaluated(cache, kept_workers, folders["bytes"], **OWN).notices
    )


def test_single_judged_sentences_have_both_scores_and_no_vote(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    texts = (*PAIRS.acceptable[:4], *PAIRS.unacceptable[:4])
    lines = [f"{i}\tS\t{int(i < 4)}\tg\t{text}\t\tTrue\tFalse" for i, text in enumerate(texts)]
    judged = from_table(read_table("\n".join([HEADER, *lines]).encode(), "judged.tsv"))
    result = evaluated(cache, kept_workers, folders["bytes"], dataset=judged, **OWN)
    pairs = evaluated(cache, kept_workers, folders["bytes"], **OWN)
    assert set(PROMPTED) - set(available(result.pairs)) == {"prompt vote"}
    for name in (IN_TEMPLATE, YES_NO):
        np.testing.assert_allclose(scores(result.pairs, name)[0][:4], scores(pairs.pairs, name)[0][:4], atol=1e-5)
        np.testing.assert_allclose(scores(result.pairs, name)[0][4:], scores(pairs.pairs, name)[1][:4], atol=1e-5)


def test_a_stored_result_is_the_same_and_one_without_prompts_has_no_columns_of_numbers(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    result = evaluated(cache, kept_workers, folders["bytes"], **OWN)
    again = unpack(Result, pack(result).__getitem__, "it")
    pd.testing.assert_frame_equal(again.prompted, result.prompted)
    assert again.settings == result.settings and by_template(again).equals(by_template(result))
    former = {name: value for name, value in to_json_value(result.settings).items() if name not in PROMPT_SETTINGS}
    assert record_from_json(Settings, former, "settings") == Settings(result.settings.models)
    plain_run = evaluated(cache, kept_workers, folders["bytes"])
    assert (
        plain_run.pairs[[f"{side}_{name}" for side in SIDES for name in ("in_template", "votes")]].isna().all(axis=None)
    )
    assert plain_run.prompted.empty and by_template(plain_run).empty and "templates" not in plain_run.signature


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"in_template": ("{sentence}",)}, "Templates of your own are named, but the prompts are 'none'"),
        ({"prompts": "en", "yes_no": ("{sentence}?",)}, "the prompts are 'en'. Add --prompts own"),
        ({"prompts": "own"}, "No template of your own is named"),
        (
            {"prompts": "own", "in_template": ("\udcff {sentence}",)},
            r"The template '\\udcff {sentence}' is no text in UTF-8",
        ),
        ({"prompts": "own", "in_template": ("a" * 100_000,)}, f"The template '{'a' * 80}…' has 0 places"),
        ({"prompts": "own", "in_template": ("none",)}, "'none' has 0 places for the sentence"),
        ({"prompts": "own", "yes_no": ("{sentence} {sentence}",)}, "has 2 places"),
        ({"prompts": "own", "yes_no": ("{sentence}?",) * 2}, "is there twice and would have two votes"),
        ({"prompts": "own", "yes_no": ("{sentence}?",), "answers": ("Yes",)}, "The answers are two"),
        ({"prompts": "own", "yes_no": ("{sentence}?",), "answers": ("Yes", " Yes")}, "The answers are two"),
        ({"chat_template": True}, "A chat template is for questions"),
        ({"prompts": "own", "in_template": ("{sentence}",), "chat_template": True}, "A chat template is for questions"),
        ({"answers": ("Yes", "No")}, "The answers 'Yes,No' are for questions of your own, and there are none"),
        ({"prompts": "en", "answers": ("True", "False")}, "The answers 'True,False' are for questions of your own"),
        (
            {"prompts": "own", "in_template": ("{sentence}",), "answers": ("A", "B")},
            "The answers 'A,B' are for questions",
        ),
        *(
            (
                {"prompts": "own", "yes_no": ("{sentence}?",), "answers": answers},
                "The answer 'Yes it is' begins with the answer 'Yes'",
            )
            for answers in (("Yes", "Yes it is"), ("Yes it is", "Yes"))
        ),
    ],
)
def test_templates_that_cannot_be_are_refused_in_words(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("{", "\\{")):
        templates_of(Settings(("m",), **settings))


def test_a_leading_space_is_no_second_one() -> None:
    items = {
        text: Template(IN_TEMPLATE, text).item("Cats.", leading_space=True)
        for text in ("{sentence}", "So {sentence}", "So:\n{sentence}")
    }
    assert items == {
        "{sentence}": ["", " Cats."],
        "So {sentence}": ["So ", "Cats."],
        "So:\n{sentence}": ["So:\n", " Cats."],
    }


def test_rules_and_signature_say_what_was_scored_alone(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path], tmp_path: Path
) -> None:
    name = str(folders["bytes"])
    alone = {
        "in_template": evaluated(cache, kept_workers, folders["bytes"], prompts="own", in_template=(IN,)).rules[name],
        "yes_no": evaluated(cache, kept_workers, folders["bytes"], prompts="own", yes_no=(QUESTION,)).rules[name],
        "": evaluated(cache, kept_workers, folders["bytes"]).rules[name],
    }
    assert {asked for asked, rule in alone.items() if "beginning of a template" in rule} == {"in_template"}
    assert {asked for asked, rule in alone.items() if "log-odds" in rule} == {"yes_no"}
    masked = evaluated(cache, kept_workers, folders["bert"], prompts="en")
    assert "templates" not in masked.signature  # there is no model that was scored in them
    chats = tiny_models.gpt2_byte_level(tmp_path / "long", max_tokens=256)
    (chats / "chat_template.jinja").write_text(CHAT, encoding="utf-8")
    in_chat = evaluated(cache, kept_workers, chats, prompts="en", chat_template=True)
    without = evaluated(cache, kept_workers, chats, prompts="en")
    assert in_chat.signature["templates"] == [template.text for template in BUILT_IN["en"]]
    assert without.signature["templates"] == [template.text + template.cue for template in BUILT_IN["en"]]


def test_exact_decisions_score_templates_in_float32(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]
) -> None:
    exact = evaluated(cache, kept_workers, folders["bytes"], precision="exact-decisions", **OWN)
    plain_run = evaluated(cache, kept_workers, folders["bytes"], precision="fp32", **OWN)
    pd.testing.assert_frame_equal(exact.prompted, plain_run.prompted, check_exact=True)
    assert not any(not_exact(exact, name, 0.8) for name in PROMPTED)


def test_scores_of_a_file_beside_have_none_and_a_notice_says_so(
    cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path], tmp_path: Path
) -> None:
    rows = [f"{text},{-len(text)},3" for text in dict.fromkeys(PAIRS.sentences)]
    (file := tmp_path / "theirs.csv").write_text(
        "\n".join(["sentence,log_likelihood,n_tokens", *rows]), encoding="utf-8"
    )
    dataset = attached(PAIRS, read_scores([(file.name, file)]), [""])
    names = (*map(str, (folders["bytes"],)), *(scores.name for scores in dataset.scores))
    result = evaluate(Settings(names, **OWN), dataset, Gateway(kept_workers, cache).session("a"))
    assert set(PROMPTED).isdisjoint(available(result.pairs))
    assert any(notice.startswith(f"{names[1]}: only causal models") for notice in result.notices)


def test_sentences_in_conditions_have_none(cache: Cache, kept_workers: KeptWorkers, folders: dict[str, Path]) -> None:
    rows = "item,condition,sentence\n1,match,The cat sleeps.\n1,mismatch,The cat sleep.\n"
    dataset = from_table(read_table(rows.encode(), "suite.csv"))
    with pytest.raises(InputError, match=r"suite\.csv holds sentences in conditions, of which no score"):
        evaluated(cache, kept_workers, folders["bytes"], dataset=dataset, prompts="en")


@pytest.mark.parametrize("language", BUILT_IN)
def test_the_templates_of_a_language_are_five_and_decide(language: str) -> None:
    templates = templates_of(Settings(("m",), prompts=language))
    assert [template.score for template in templates] == [IN_TEMPLATE] * 3 + [YES_NO] * 2
    assert all(template.text.count("{sentence}") == 1 for template in templates)
    items = [template.item("猫が寝る。") for template in templates]
    assert all(context[-1].isspace() for context, _ in items[:3])  # so that no token joins it with the sentence
    for _, *answers in items[3:]:
        assert [answer.strip() for answer in answers] == (["Yes", "No"] if language == "en" else ["はい", "いいえ"])
        assert all(uses_spaces(answer) == answer.startswith(" ") for answer in answers)
