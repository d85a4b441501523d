"""The templates that sentences are scored in, built in for English and Japanese, or a user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import InputError
from engine.evaluations.minimal_pairs.records import NO_PROMPTS, OWN_PROMPTS, Settings
from engine.language.words import uses_spaces
from engine.messages.message import Message

PLACE = "{sentence}"
LONGEST_NAMED = 80  # characters of a template in an error
IN_TEMPLATE, YES_NO = "in-template LP", "Yes/No"  # the scores, by the names of their normalisations


@dataclass(frozen=True)
class Template:
    """A text with a place for the sentence, and what is scored of it.

    score: IN_TEMPLATE, the log-probability of the sentence and of what the template has after it; or YES_NO, the
    log-odds of the first of `answers` against the second after the text. cue: what then stands between question and
    answer, where no chat template does.
    """

    score: str
    text: str
    cue: str = ""
    answers: tuple[str, ...] = ()

    def item(self, sentence: str, *, leading_space: bool = False, chat: bool = False) -> list[str]:
        """A sentence in the template as (context, continuation, …) of `GatewaySession.continuation_log_likelihoods`.

        An answer in a script with spaces stands after one, in place of those that the question ends with. leading_space:
        a space before the sentence in a template for in-template LP, where the template has none.

        >>> Template(IN_TEMPLATE, "Well formed: {sentence}").item("Cats sleep.")
        ['Well formed: ', 'Cats sleep.']
        >>> Template(YES_NO, "{sentence} OK?", " Answer: ", ("Yes", "No")).item("Cats sleep.")
        ['Cats sleep. OK? Answer:', ' Yes', ' No']
        """
        before, _, after = self.text.partition(PLACE)
        if self.score == IN_TEMPLATE:
            space = " " if leading_space and not before.endswith(" ") else ""
            return [before, f"{space}{sentence}{after}"]
        if chat:
            return [f"{before}{sentence}{after}", *self.answers]
        context = f"{before}{sentence}{after}{self.cue}".rstrip(" ")
        return [context, *(_after(context, answer) for answer in self.answers)]

    def read(self, *, chat: bool = False) -> str:
        """The template as a model reads it; chat: with questions in a chat template, which stands in place of the cue."""
        return self.text if chat else self.text + self.cue


_ENGLISH = ("Yes", "No")
_JAPANESE = ("はい", "いいえ")
# Few: each is a pass over all sentences. Five, so that their vote decides.
BUILT_IN: Mapping[str, tuple[Template, ...]] = {
    "en": (
        Template(IN_TEMPLATE, "The next sentence follows the rules of English grammar.\n\n{sentence}"),
        Template(
            IN_TEMPLATE, "An example of a well-formed English sentence, as a native speaker would write it:\n{sentence}"
        ),
        Template(IN_TEMPLATE, "All the linguists who were asked judged this sentence to be acceptable.\n\n{sentence}"),
        Template(
            YES_NO,
            "Does the sentence below follow the rules of English grammar? Reply with Yes or No.\n\n{sentence}",
            "\n\nReply:",
            _ENGLISH,
        ),
        Template(
            YES_NO,
            "Sentence: {sentence}\nWould a native speaker of English find this sentence acceptable? Say Yes or No.",
            "\nAnswer:",
            _ENGLISH,
        ),
    ),
    "ja": (
        Template(IN_TEMPLATE, "次の文は、日本語の文法にかなっています。\n\n{sentence}"),
        Template(IN_TEMPLATE, "日本語を母語とする人が書いた、正しい文の例：\n{sentence}"),
        Template(IN_TEMPLATE, "尋ねられた言語学者は皆、この文を容認できると判断しました。\n\n{sentence}"),
        Template(
            YES_NO,
            "次の文は、日本語の文法にかなっていますか。「はい」か「いいえ」で答えてください。\n\n{sentence}",
            "\n\n答え：",
            _JAPANESE,
        ),
        Template(
            YES_NO,
            "文：{sentence}\n日本語を母語とする人は、この文を容認できると感じますか。「はい」か「いいえ」で答えてください。",
            "\n答え：",
            _JAPANESE,
        ),
    ),
}


def templates_of(settings: Settings) -> tuple[Template, ...]:
    """The templates that these settings ask for, those of in-template LP first; () for none.

    Raises InputError for own templates that are not asked for, for none where they are, for a template without one place
    for the sentence or with the text of another one, for answers that are not two or one the beginning of the other, and
    for answers or a chat template without a question that they are for.
    """
    own = (*settings.in_template, *settings.yes_no)
    if own and settings.prompts != OWN_PROMPTS:
        raise InputError(
            Message(
                "Templates of your own are named, but the prompts are {prompts!r}. Add --prompts own, or leave them out.",
                prompts=settings.prompts,
            )
        )
    has_questions = bool(settings.yes_no) if settings.prompts == OWN_PROMPTS else settings.prompts != NO_PROMPTS
    if settings.answers and not settings.yes_no:
        raise InputError(
            Message(
                "The answers {answers!r} are for questions of your own, and there are none. Add --yes-no, or leave them out.",
                answers=",".join(settings.answers),
            )
        )
    if settings.chat_template and not has_questions:
        raise InputError(
            Message(
                "A chat template is for questions on sentences, and there are none. Add --prompts en or ja, or a --yes-no of "
                "your own, or leave it out."
            )
        )
    if settings.prompts != OWN_PROMPTS:
        return BUILT_IN.get(settings.prompts, ())
    if not own:
        raise InputError(Message("No template of your own is named. Add --in-template TEXT or --yes-no TEXT."))
    for number, text in enumerate(own):
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise InputError(
                Message(
                    "The template {text!r} is no text in UTF-8. Write it in the encoding of the terminal.",
                    text=_cut(text),
                )
            )
        if text.count(PLACE) != 1:
            raise InputError(
                Message(
                    "The template {text!r} has {n} places for the sentence. Write {place} once, where the sentence stands.",
                    text=_cut(text),
                    n=text.count(PLACE),
                    place=PLACE,
                )
            )
        if text in own[:number]:
            raise InputError(
                Message(
                    "The template {text!r} is there twice and would have two votes. Leave one out.", text=_cut(text)
                )
            )
    answers = tuple(answer.strip() for answer in settings.answers) or _ENGLISH
    if settings.yes_no and (len(answers) != 2 or not all(answers) or answers[0] == answers[1]):
        raise InputError(
            Message(
                "The answers are two, the one for an acceptable sentence first, such as Yes,No; got {answers!r}.",
                answers=",".join(settings.answers),
            )
        )
    if settings.yes_no and (answers[0].startswith(answers[1]) or answers[1].startswith(answers[0])):
        shorter, longer = sorted(answers, key=len)
        raise InputError(
            Message(
                "The answer {longer!r} begins with the answer {shorter!r}, so that it can never be the more probable one. "
                "Choose answers of which neither begins with the other.",
                longer=longer,
                shorter=shorter,
            )
        )
    return (
        *(Template(IN_TEMPLATE, text) for text in settings.in_template),
        *(Template(YES_NO, text, answers=answers) for text in settings.yes_no),
    )


def _cut(text: str) -> str:
    """A template as an error names it."""
    return text if len(text) <= LONGEST_NAMED else f"{text[:LONGEST_NAMED]}…"


def _after(context: str, answer: str) -> str:
    """An answer as it stands after a context."""
    return f" {answer}" if uses_spaces(answer) and context and not context[-1].isspace() else answer
