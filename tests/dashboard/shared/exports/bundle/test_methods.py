"""The methods paragraph: it states the settings that were used, in both languages, and cites what it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from string import Formatter
from typing import Any

import pytest

from dashboard.faces import FACES
from dashboard.shared.exports.bundle import english, japanese, no_pairs
from dashboard.shared.exports.bundle.bertscore import PENALTIES
from dashboard.shared.exports.bundle.methods import Methods, methods
from dashboard.shared.exports.bundle.references import WORKS, bibtex, model_work
from engine.datasets.minimal_pairs.kinds import KINDS as DATA_KINDS
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.records import Settings as AlignmentSettings
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.classification.records import Settings as ClassificationSettings
from engine.evaluations.clusters.records import Settings as ClusterSettings
from engine.evaluations.fill_mask.records import Settings as MaskSettings
from engine.evaluations.metric_study.records import Settings as MetricSettings
from engine.evaluations.minimal_pairs.records import ALL, REGIONS, SUBSETS, WHOLE
from engine.evaluations.minimal_pairs.records import Settings as PairSettings
from engine.options import option_of

KINDS = [kind for kind, face in FACES.items() if face.paragraph is not None]
MODELS = ("cl-tohoku/bert-base-japanese-v3", "builtin/gpt2-mini-ja")
SETTINGS: dict[str, Any] = {
    "clusters": ClusterSettings(MODELS, pooling="mean"),
    "classification": ClassificationSettings(MODELS),
    "fill-mask": MaskSettings(MODELS),
    "alignment": AlignmentSettings(MODELS),
    "metric-study": MetricSettings(MODELS, pooling="mean"),
    "minimal-pairs": PairSettings(MODELS),
}


def signature(kind: str, settings: Any = None, **further: Any) -> dict[str, Any]:
    """A signature as the evaluations make it."""
    fields = asdict(settings or SETTINGS[kind])
    del fields["models"]
    return {
        "models": [
            {"name": MODELS[0], "revision": "65243d6e", "fingerprint": "ab", "dtype": "float32"},
            {"name": MODELS[1], "revision": None, "fingerprint": "cd", "dtype": "float32"},
        ],
        "settings": fields,
        "layers": {MODELS[0]: 9, MODELS[1]: 9},
        "vectors": dict.fromkeys(MODELS, "mean"),
        "scoring": {MODELS[0]: "pll-word-l2r", MODELS[1]: "causal"},
        "prefixes": {MODELS[1]: "<s>"},
        "dictionaries": {MODELS[0]: "novel (229 documents, ab12)"},
        "readings": "pykakasi 2.3.0",
        "surface": {"sentbleu": "smooth:exp", "chrf": "nc:6"},
        "run_seeds": [0, 1, 2, 3, 4],
        "versions": {
            "hakari": "0.2.0",
            "torch": "2.13.0",
            "transformers": "5.23.0",
            "scikit-learn": "1.9.1",
            "umap-learn": "0.5.12",
        },
        **further,
    }


def made_of(kind: str, *facts: Any, **further: Any) -> Methods:
    paragraph = FACES[kind].paragraph
    assert paragraph is not None
    return methods(paragraph, *facts, **further)


def text(kind: str, language: str = "en", settings: Any = None, items: str = "", **further: Any) -> str:
    made = made_of(kind, signature(kind, settings, **further), "mine.csv", 1234, items=items)
    return made.markdown(language).replace("\\", "")


def parts_of(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def test_both_languages_have_the_same_sentences_parts_and_words() -> None:
    assert {name: parts_of(sentence) for name, sentence in english.SENTENCES.items()} == {
        name: parts_of(sentence) for name, sentence in japanese.SENTENCES.items()
    }
    assert {group: set(words) for group, words in english.WORDS.items()} == {
        group: set(words) for group, words in japanese.WORDS.items()
    }


def test_a_sample_has_its_name_in_each_language() -> None:
    made = made_of("clusters", signature("clusters", None), "sample labelled sentences, en", 180)
    assert " of sample labelled sentences (English)" in made.text("en")
    assert "サンプルのラベル付き文（English） の" in made.text("ja") and "sample" not in made.text("ja")
    assert "mine.csv" in made_of("clusters", signature("clusters", None), "mine.csv", 180).text("ja")


def test_there_are_words_for_every_choice() -> None:
    def worded(record: type[Any], name: str, *but: str) -> bool:
        declared = option_of(record, name)
        return set(declared.phrases) == set(declared.choices) - set(but)

    assert worded(ClusterSettings, "pooling", "published") and worded(MetricSettings, "pooling", "published", "none")
    assert worded(ClassificationSettings, "split") and worded(PairSettings, "words")
    assert all(
        worded(Scoring, name) for name in ("criterion", "pairing", "reading_engine", "reading_scope", "special_tokens")
    )
    assert {name for name, choice in (SUBSETS | REGIONS).items() if not choice.phrase} == {ALL, WHOLE}
    words: Mapping[str, set[str]] = {group: set(values) for group, values in english.WORDS.items()}
    assert words["penalty"] == set(option_of(Scoring, "penalty").choices) == {"none", *PENALTIES}
    assert words["score"] == set(option_of(MetricSettings, "score").choices)
    assert {f"pll {name}" for name in option_of(PairSettings, "pll").choices} <= set(english.SENTENCES)


def test_every_kind_of_run_with_models_has_a_paragraph() -> None:
    assert {"dictionary", *KINDS} == set(EVALUATIONS)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_paragraph_names_models_data_versions_and_cites_only_what_there_is(kind: str, language: str) -> None:
    paragraph = text(kind, language)
    for said in (*MODELS, "65243d6e", "1,234", "mine.csv", "2.13.0", "5.23.0", "0.2.0", "float32"):
        assert said in paragraph, said
    made = made_of(kind, signature(kind), "mine.csv", 1234)
    cited = set(re.findall(r"@([\w-]+)", made.markdown(language)))
    assert cited and cited == set(re.findall(r"@\w+\{([\w-]+),", made.bibtex()))
    keys = {key for group in re.findall(r"\\cite\{([^}]*)\}", made.latex(language)) for key in group.split(",")}
    assert keys == cited
    assert made.latex(language).startswith("%") and r"\usepackage{url}" in made.latex(language).splitlines()[0]
    assert not re.search(r"[{}]", paragraph) and "None" not in paragraph and "nan" not in paragraph


@pytest.mark.parametrize(
    ("kind", "change", "further", "said"),
    [
        (
            "clusters",
            {},
            {},
            (
                "the mean of the vectors of all its tokens",
                "hidden layer 9",
                "1,000 resamples, seed 0",
                "UMAP 0.5.12",
                "15 neighbours",
                "scikit-learn 1.9.1",
            ),
        ),
        (
            "clusters",
            {"projection": "pca", "normalize": ("nfkc", "lower"), "lone_classes": "exclude"},
            {},
            ("principal components", "normalised beforehand (nfkc and lower)", "single sentence were left out"),
        ),
        (
            "classification",
            {"hidden": (30, 20), "epochs": 7, "test_share": 0.25, "split": "stratified"},
            {},
            ("30 and 20 units, 7 epochs, batches of 32", "25%", "drawn anew", "5 runs", "seeds 0 to 4", "Wilson"),
        ),
        ("fill-mask", {"resamples": 300, "seed": 4}, {}, ("300 resamples, seed 4", "probability")),
        (
            "alignment",
            {},
            {},
            ("All tokens have equal weights.", "M squared takes the place", "3 times", "not rescaled"),
        ),
        ("alignment", {"scoring": Scoring(penalty="none")}, {}, ("No penalty was applied.",)),
        (
            "alignment",
            {"rescale": "own", "rescale_pairs": 1200, "rescale_seed": 5},
            {},
            ("rescaled scores, (s − b) / (1 − b)", "1,200 random pairs", "seed 5"),
        ),
        ("alignment", {"rescale": "LAYER,P,R,F;4,0.1,0.1,0.1"}, {}, ("b is a baseline of the model.",)),
        (
            "alignment",
            {
                "scoring": Scoring(
                    "novel",
                    penalty="reading",
                    criterion="either",
                    threshold=0.6,
                    pairing="joined",
                    reading_engine="unidic",
                    reading_scope="word",
                    match_special=False,
                )
            },
            {},
            (
                "novel (229 documents, ab12)",
                "low-frequency or proper nouns",
                "above the 0.6 quantile",
                "MeCab with UniDic",
                "the words that tokens belong to",
                "are joined",
                "No token is matched with a special token",
            ),
        ),
        (
            "alignment",
            {"scoring": Scoring("references", threshold=4.5, threshold_kind="value", penalty="reading")},
            {},
            ("among the references", "an idf above 4.5 nats"),
        ),
        (
            "alignment",
            {"scoring": Scoring(penalty="names", readings="斉藤=さいとう")},
            {},
            ("are compared by reading: M squared", "count as one", "斉藤=さいとう"),
        ),
        (
            "alignment",
            {"scoring": Scoring(readings=";".join(f"名{number}=な" for number in range(1200)))},
            {},
            ("A list of 1,200 names",),
        ),
        (
            "alignment",
            {"scoring": Scoring("novel-words", penalty="none")},
            {"dictionaries": {MODELS[0]: "novel-words (words: unidic-lite 1.0.8, 229 documents, ab12)"}},
            ("of the word that they belong to: novel-words (words: unidic-lite 1.0.8, 229 documents, ab12)",),
        ),
        (
            "alignment",
            {"scoring": Scoring("novel", penalty="reading", criterion="names")},
            {},
            ("words that UniDic lacks", "multiplied by the mean agreement"),
        ),
        (
            "metric-study",
            {"penalties": ("none", "names")},
            {},
            (
                "without and names by reading",
                "are compared by reading: M squared",
                "the distance of the sounds of the two readings, in morae",
                "3 times as great, and names other than numbers have together at least 50% of the weight",
            ),
        ),
        (
            "metric-study",
            {"idfs": ("novel", "wiki"), "score": "recall"},
            {},
            ("recall was computed", "novel and wiki", "by readings", "Williams", "Fisher's z", "smooth:exp"),
        ),
        (
            "metric-study",
            {"idfs": ("none", "novel")},
            {"dictionaries": {f"novel, {MODELS[0]}": "novel (229 documents)"}},
            (
                "that goes together",
                "was not combined with equal weights",
                f"novel does not fit the tokenizers of {MODELS[1]} and",
            ),
        ),
        (
            "minimal-pairs",
            {"leading_space": True, "words": "mecab"},
            {"prefixes": {MODELS[1]: ""}},
            (
                "They read nothing before it, and its first token is not scored.",
                "A space is put before",
                "Words are those of MeCab.",
            ),
        ),
        (
            "minimal-pairs",
            {},
            {"prefixes": {"a": "<s>", "b": ""}},
            ("They read <s> before it, for a.", "first token is not scored, for b."),
        ),
        ("clusters", {"seed": 20261}, {}, ("seed 20261)",)),
        (
            "clusters",
            {"correction": "whitening", "centre": True},
            {"corrected_dims": {MODELS[0]: 256, MODELS[1]: 64}},
            (
                "whitened [@su2021whitening]: the first 256 principal",
                "the first 64 principal",
                "mean of the vectors was subtracted",
            ),
        ),
        ("clusters", {"correction": "all-but-the-top"}, {}, ("taken off [@mu2018] (a hundredth as many",)),
        ("clusters", {"correction": "all-but-the-top", "removed_components": 3}, {}, ("(3 components)",)),
        ("minimal-pairs", {"seed": 7}, {"subset": "matched"}, ("drawn at random, are counted (seed 7).",)),
        (
            "metric-study",
            {"metric_columns": ("COMET", "TER"), "lower_columns": ("TER",)},
            {},
            ("The scores COMET and TER were not computed here", "Of TER lower is better"),
        ),
        (
            "minimal-pairs",
            {},
            {"normalization": "PenLP", "alpha": 0.35, "subset": "A=U"},
            (
                "α = 0.35",
                "equally many tokens",
                "later tokens of its word",
                "They read <s> before it",
                "McNemar",
                "Holm",
            ),
        ),
        (
            "minimal-pairs",
            {},
            {"clustered_by": "UID", "region": "words that differ"},
            (
                "Pairs of one value of UID are taken as a cluster",
                "Korn and Graubard",
                "Student's paired test",
                "counts the words that differ",
            ),
        ),
        (
            "minimal-pairs",
            {"encoder_reads": "sentence"},
            {"scoring": {"t5": "seq2seq", "g": "mntp-word-l2r", "m": "pll-word-l2r"}},
            ("under the decoder", "the encoder was given the sentence itself, for t5", "token before it", "for g."),
        ),
        (
            "minimal-pairs",
            {"encoder_reads": "text", "encoder_text": "<extra_id_0>"},
            {"scoring": {"t5": "seq2seq"}},
            ("the encoder was given the text",),
        ),
        (
            "minimal-pairs",
            {"encoder_reads": "masked"},
            {"scoring": {"t5": "seq2seq"}},
            ("each token is masked alone in what the encoder reads",),
        ),
        (
            "minimal-pairs",
            {"pll": "original", "shared_tokens": True},
            {"normalization": "SLOR", "unigrams": "wiki"},
            ("each token masked alone", "CrowS-Pairs", "those of wiki", "(SLOR)"),
        ),
    ],
)
def test_the_settings_used_are_stated(
    kind: str, change: dict[str, Any], further: dict[str, Any], said: tuple[str, ...]
) -> None:
    paragraph = text(kind, "en", replace(SETTINGS[kind], **change), **further)
    for words in said:
        assert words in paragraph, (words, paragraph)
    assert text(kind, "ja", replace(SETTINGS[kind], **change), **further)


def test_items_left_out_are_counted_and_published_vectors_are_those_of_sentence_transformers() -> None:
    of_files = dict.fromkeys(MODELS, "as published (mean pooling, normalised)")
    made = made_of(
        "clusters",
        signature("clusters", replace(SETTINGS["clusters"], pooling="published"), vectors=of_files),
        "d",
        5,
        3,
    )
    assert "(3 in all)" in made.markdown("en") and "計 3 件" in made.markdown("ja")
    assert "@reimers2019sbert" in made.markdown("en") and "mean pooling, normalised" in made.markdown("en")
    assert "left out" not in text("fill-mask")
    assert "(7)" in text("fill-mask", rows_left_out=7) and "7 行" in text("fill-mask", "ja", rows_left_out=7)


@pytest.mark.parametrize(
    ("kind", "beginning"),
    [
        ("clusters", "A sentence is represented by"),
        ("classification", "A sentence is represented by"),
        ("metric-study", "Beside them stands the cosine of sentence vectors"),
    ],
)
def test_each_model_has_the_vectors_that_its_files_give(kind: str, beginning: str) -> None:
    """Pooling "published" of a model whose files do not say is the ordinary one, and cites nobody."""
    settings = replace(SETTINGS[kind], pooling="published")
    plain = text(kind, settings=settings, vectors=dict.fromkeys(MODELS, "cls"))
    assert "([CLS]), taken from hidden layer 9" in plain and "sentence-transformers" not in plain
    assert "reimers2019sbert" not in plain + text(kind, "ja", settings, vectors=dict.fromkeys(MODELS, "cls"))
    mixed = text(
        kind,
        settings=settings,
        layers={MODELS[0]: 12, MODELS[1]: 8},
        vectors={MODELS[0]: "as published (mean pooling), prompt 'query: it\\'s, 5', 256 dimensions", MODELS[1]: "cls"},
    )
    assert mixed.count(beginning) == 2
    assert "published with the model (mean pooling), from hidden layer 12" in mixed
    assert (
        f"taken from hidden layer 8{'' if kind == 'metric-study' else ' (0 is the embeddings)'}, for {MODELS[1]}."
        in mixed
    )
    assert f"prompt “query: it's, 5”, for {MODELS[0]}." in mixed
    assert f"first 256 dimensions, for {MODELS[0]}." in mixed


def test_a_served_model_was_not_computed_here() -> None:
    made = signature("minimal-pairs")
    made["models"][1] = {
        "name": "endpoint/mine",
        "revision": None,
        "dtype": "bfloat16",
        "endpoint": {
            "host": "h:1",
            "model": "llama-x",
            "version": "vLLM 0.11",
            "reported": {},
            "reply": "",
            "continued": True,
        },
    }
    paragraph = made_of("minimal-pairs", made, "d", 5).markdown("en").replace("\\", "")
    assert (
        f"in float32 with PyTorch 2.13.0 and Transformers 5.23.0 [@wolf2020transformers], for {MODELS[0]}." in paragraph
        and "bfloat16" not in paragraph
    )
    assert "What endpoint/mine gives was computed by a server" in paragraph
    assert "model llama-x, software vLLM 0.11" in paragraph
    del made["models"][0]
    made["models"][0]["endpoint"]["version"] = ""
    alone = made_of("minimal-pairs", made, "d", 5)
    assert "PyTorch" not in alone.markdown("en") and "not known" in alone.markdown("en")
    assert "PyTorch" not in alone.markdown("ja") and "llama-x" in alone.markdown("ja")


def test_running_text_is_told_with_its_windows_and_measures() -> None:
    windows = {MODELS[0]: [512, 256], MODELS[1]: [1024, 512]}
    said = text(
        "minimal-pairs", items="texts", settings=PairSettings(MODELS, window_prefix="first", seed=3), windows=windows
    )
    assert "on 1234 documents" in said.replace(",", "") and "bits per byte [@gao2020pile]" in said
    assert (
        "more than 512 tokens" in said and "1024 tokens, special ones included" in said and "512 tokens apart" in said
    )
    assert "begin with tokens of the text" in said and "seed 3" in said and "by Holm's method [@holm1979]" in said
    assert "minimal pair" not in said and "Wilson" not in said and "McNemar" not in said
    same = text("minimal-pairs", items="texts", windows={model: [512, 256] for model in MODELS})
    assert same.count("windows of so many") == 1 and "begin with tokens of the text" not in same
    assert "1024 トークンの窓を 512 トークンずつ" in text("minimal-pairs", "ja", items="texts", windows=windows)


@pytest.mark.parametrize(
    ("of", "said", "told"),
    [
        ("stereotypes", "on 1234 pairs of sentences", "ties prefer neither [@nangia2020crows]"),
        (
            "judged",
            "on 1234 judged sentences",
            "area under the ROC curve, with 95% intervals by DeLong et al. [@delong1988]",
        ),
        ("conditions", "on 1234 sentences in conditions", "as in SyntaxGym [@gauthier2020]"),
        ("reading", "on 1234 texts with reading times", "what surprisal explains of reading times beyond a baseline"),
        ("acquisition", "on 1234 words in contexts", "half-way from chance to its least [@chang2022]"),
    ],
)
def test_data_without_a_better_sentence_are_told_by_their_own_measures(of: str, said: str, told: str) -> None:
    written = text("minimal-pairs", items=of, normalization="PenLP", alpha=0.8)
    assert said in written.replace(",", "") and told in written
    assert "minimal pair" not in written and "acceptable sentence the higher score" not in written
    assert "accurac" not in written and ("sign test" in written) == (of == "stereotypes")
    assert ("Wilson's" in written) == ("McNemar" in written) == (of == "stereotypes")
    assert ("α = 0.8" in written) == (of in ("stereotypes", "judged"))
    japanese_text = text("minimal-pairs", "ja", items=of)
    assert "ミニマルペア" not in japanese_text and "容認可能な文により高い" not in japanese_text


def test_every_kind_of_minimal_pair_data_has_its_words_and_measures() -> None:
    assert set(no_pairs.MEASURES) == set(DATA_KINDS) - {"pairs"}
    assert set(no_pairs.MEASURES) < set(english.WORDS["items"])


def test_data_with_several_references_are_scored_by_the_best() -> None:
    made = made_of("alignment", signature("alignment"), "d", 5, several_references=True)
    assert "greatest over its references" in made.markdown("en") and "最大値" in made.markdown("ja")
    assert "over its references" not in text("alignment")


def test_a_name_is_printed_literally() -> None:
    made = made_of("clusters", signature("clusters"), "50%_of_#1 & {x}.csv", 5)
    assert r"50\%\_of\_\#1 \& \{x\}.csv" in made.latex("en")
    assert r"50%\_of\_\#1 & {x}.csv" in made.markdown("en")


WITHOUT_PAGES = {"shibayama2020clustering", "ueda2024", "zhang2020bertscore", "charpentier2024", "mu2018", "oh2024"}
WITH_DOI = {
    "reimers2019sbert",
    "wolf2020transformers",
    "kauf2023",
    "salazar2020",
    "nangia2020crows",
    "graham2014",
    "post2018",
    "papineni2002",
    "popovic2015",
}


def test_works_have_what_a_reader_finds_them_by() -> None:
    for key, work in WORKS.items():
        assert work.author and work.title and (work.year or "note" in work.fields), key
    for key, work in WORKS.items():
        assert work.year == int(re.sub(r"\D", "", key) or 0), key
        first, _, last = work.fields.get("pages", "").partition("--")
        assert bool(first) == (work.type in ("article", "inproceedings") and key not in WITHOUT_PAGES), key
        assert not last or int(first) < int(last), key
        assert bool(work.fields.get("doi")) == (key in WITH_DOI), key
        venue = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}.get(work.type)
        assert venue is None or work.fields[venue], key
    entries = bibtex(WORKS, WORKS)
    assert entries.count("\n@") + 1 == len(WORKS) and entries.count("{") == entries.count("}")
    assert "BERT" in entries and "10.18653/v1/D19-1410" in entries


def test_a_model_is_cited_by_its_page() -> None:
    hub, card = model_work("somebody/bert", "ab12"), model_work("paper/kyoto-univ=/models/kyoto", None)
    assert hub is not None and hub.fields == {
        "howpublished": "https://huggingface.co/somebody/bert",
        "note": "Revision ab12",
    }
    assert card is not None and card.fields["howpublished"].startswith("https://nlp.ist.i.kyoto-u.ac.jp")
    for local in ("builtin/bert-mini-ja", "/models/bert", "./bert", "endpoint/mine"):
        assert model_work(local, None) is None


def test_a_label_stands_before_the_model_that_is_cited() -> None:
    labelled = {"name": f"BERT v3={MODELS[0]}", "label": "BERT v3", "model": MODELS[0], "revision": "65243d6e"}
    own = {"name": "Ours=/srv/ours", "label": "Ours", "model": "/srv/ours", "revision": None}
    signed = signature("clusters") | {"models": [labelled, own], "layers": {labelled["name"]: 9, own["name"]: 8}}
    said = made_of("clusters", signed, "mine.csv", 12)
    english_text, japanese_text = (said.markdown(language).replace("\\", "") for language in ("en", "ja"))
    assert f"BERT v3 ({MODELS[0]}, revision 65243d6e) [@model-1]" in english_text and "Ours (/srv/ours)" in english_text
    assert f"BERT v3（{MODELS[0]}，リビジョン 65243d6e）" in japanese_text and "Ours（/srv/ours）" in japanese_text
    assert "9 (BERT v3)" in english_text and "8 (Ours)" in english_text and "BERT v3=" not in english_text
    assert f"huggingface.co/{MODELS[0]}" in said.bibtex()
    assert model_work("Ours=paper/nict=/srv/nict", None) == model_work("paper/nict=/srv/nict", None) is not None


@pytest.mark.parametrize(
    ("own", "english_said", "japanese_said"),
    [
        ({"in_template": ("{sentence}",)}, {"log-probability of the sentence in"}, {"テンプレート中の文の対数確率"}),
        ({"yes_no": ("{sentence}?",)}, {"log-odds of yes"}, {"「はい」の対数オッズ"}),
        (
            {"in_template": ("{sentence}",), "yes_no": ("{sentence}?",)},
            {"log-probability of the sentence in", "log-odds of yes"},
            {"テンプレート中の文の対数確率", "「はい」の対数オッズ"},
        ),
    ],
)
def test_templates_are_said_of_the_scores_alone_that_they_are_for(
    own: dict[str, Any], english_said: set[str], japanese_said: set[str]
) -> None:
    settings = PairSettings(MODELS, prompts="own", **own)
    for language, said in (("en", english_said), ("ja", japanese_said)):
        written = text(
            "minimal-pairs", language, settings, templates=[each for texts in own.values() for each in texts]
        )
        words = {
            "en": ("log-probability of the sentence in", "log-odds of yes"),
            "ja": ("テンプレート中の文の対数確率", "「はい」の対数オッズ"),
        }[language]
        assert {each for each in words if each in written} == said and "@ide2025" in written
