"""Pretraining a small BERT or GPT-2 from a corpus: vocabulary, rows, training, held-out numbers, model card.

The model, the masking and the training loop are those of transformers. Added here is what makes it fast on a few
cores: steps of one size, and a language-model head that is computed only at the masked positions. A run that is
killed continues from its last complete checkpoint when the same command is given again.

Source: the third contribution of the BERTScore-for-novels paper (a BERT pretrained on novels).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import torch
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

from engine.errors import InputError
from engine.language.quantities import count
from engine.messages.message import Message
from engine.models.pretraining.model_card import write_model_card
from engine.models.pretraining.objective import collator, held_out_numbers, loss, spread_positions
from engine.models.pretraining.optimizers import optimizer
from engine.models.pretraining.rows import SHORT_ROW_DIVISOR, RowFormat, Steps, write_rows
from engine.models.pretraining.settings import Running, Settings, tokenizer_of
from engine.models.pretraining.texts import WRITINGS, Texts
from engine.models.pretraining.tokenizers import (
    fast_encoder,
    sample_sentences,
    train_basic_wordpiece,
    train_characters,
    train_unigram,
    train_wordpiece,
)
from engine.models.pretraining.warm_start import check_start, start_from
from engine.models.pretraining.work_directory import claim_directory, last_complete_checkpoint

Report = Callable[[str], None]
OnStep = Callable[[int], None]  # called with the number of the step that has just been done

EVALUATION_STEPS = 40  # for the held-out loss at intervals


def pretrain(
    corpus: list[Path],
    out: Path,
    settings: Settings,
    *,
    lines: Sequence[Path] = (),
    device: str = Running.device,
    save_every: int = Running.save_every,
    evaluate_every: int = Running.evaluate_every,
    report: Report = print,
    on_step: OnStep = lambda _step: None,
    command: str = "",
) -> dict[str, Any]:
    """Train a model of `settings` on `corpus` and leave a Hugging Face directory in `out`.

    lines: further texts each of whose lines is a document. The numbers are measured on documents of `corpus`, of
    `lines` only where there is no other.

    Returns the record that is also written to `out/pretraining.json`: settings, corpus, steps, tokens
    and the numbers on documents held out of training. Raises InputError for wrong settings, an unreadable
    corpus, or an `out` that holds a run of other settings; of a run that is refused nothing is left.
    """
    settings.check()
    work = out / "work"
    was_begun, had_directory = work.exists(), out.exists()
    try:
        return _pretrain(
            Texts(tuple(corpus), tuple(lines), settings),
            out,
            settings,
            device,
            save_every,
            evaluate_every,
            report,
            on_step,
            command,
        )
    except InputError:
        if not was_begun:
            shutil.rmtree(work if had_directory else out, ignore_errors=True)
        raise


def _pretrain(
    texts: Texts,
    out: Path,
    settings: Settings,
    device: str,
    save_every: int,
    evaluate_every: int,
    report: Report,
    on_step: OnStep,
    command: str,
) -> dict[str, Any]:
    work = out / "work"
    if (out / "pretraining.json").exists() and not work.exists():
        raise InputError(Message("{out} already holds a finished model. Choose another directory.", out=out))
    if settings.start is not None:
        check_start(settings)
    claim_directory(work, settings)

    tokenizer = _tokenizer(texts, work, settings, report)
    row_format = _row_format(tokenizer, settings)
    encode = fast_encoder(tokenizer)
    for part, named, is_held_out_part in (
        ("train", Message("training"), False),
        ("held_out", Message("held-out"), True),
    ):
        folder = work / part
        if not (folder / "rows.json").exists():
            report(Message("encoding the {part} documents", part=named))
            documents = texts.held_out() if is_held_out_part else texts.training()
            write_rows(documents, encode, row_format, folder, WRITINGS[settings.language])
    steps = Steps(work / "train", settings.tokens_per_step, settings.steps, settings.short_share, settings.seed)
    held_out = Steps(work / "held_out", settings.tokens_per_step, EVALUATION_STEPS, 0.0, settings.seed)
    _require_enough(steps, held_out, settings)
    report(
        Message(
            "{counts:,} documents, {counts_:,} characters, {counts__:,} tokens; {counts___} documents held out",
            counts=steps.counts["documents"],
            counts_=steps.counts["characters"],
            counts__=steps.counts["tokens"],
            counts___=held_out.counts["documents"],
        )
    )

    started = time.time()
    model: Any = _train(tokenizer, steps, held_out, work, settings, device, save_every, evaluate_every, report, on_step)
    seconds = time.time() - started

    model = model.to(device="cpu", dtype=torch.float16)
    model.save_pretrained(out)
    # Half the size on disk; the configuration makes transformers load it in float32.
    model.config.dtype = torch.float32
    model.config.save_pretrained(out)
    tokenizer.save_pretrained(out)
    report(Message("measuring on the held-out documents"))
    numbers = held_out_numbers(model.float(), tokenizer, held_out, settings.held_out_tokens, settings.seed)
    record = {
        "settings": asdict(settings),
        "command": command,
        "corpus": [path.name for path in (*texts.corpus, *texts.lines)],
        "vocabulary": len(tokenizer),
        "parameters": model.num_parameters(),
        "train": steps.counts,
        "held_out": {**held_out.counts, **numbers},
        "tokens_seen": settings.steps * settings.tokens_per_step,
        "seconds_since_last_start": round(seconds),
        "versions": {"torch": torch.__version__},
    }
    write_model_card(out, record)
    shutil.rmtree(work)
    return record


class _Trainer(Trainer):
    """transformers' training loop with our own loss, whose head is computed at the labelled positions only."""

    def __init__(self, *, settings: Settings, **options: Any) -> None:
        self._settings = settings
        super().__init__(**options)

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        """The optimiser of the settings."""
        if self.optimizer is None:
            self.optimizer = optimizer(cast(torch.nn.Module, self.model), self._settings)
        return self.optimizer

    def compute_loss(  # type: ignore[override]
        self, model: PreTrainedModel, inputs: dict[str, torch.Tensor], return_outputs: bool = False, **_: Any
    ) -> Any:
        with self.accelerator.autocast():
            value = loss(model, inputs)
        return (value, {"loss": value}) if return_outputs else value


class _Progress(TrainerCallback):
    """Reports step, loss, tokens per second and the remaining time."""

    def __init__(self, tokens_per_step: int, report: Report, on_step: OnStep) -> None:
        self._tokens_per_step, self._report, self._on_step = tokens_per_step, report, on_step

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._on_step(state.global_step)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._first_step, self._started = state.global_step, time.time()
        if state.global_step:
            self._report(Message("continuing from step {global_step:,}", global_step=state.global_step))

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        logs, done = logs or {}, state.global_step - self._first_step
        if "eval_loss" in logs:
            self._report(
                Message(
                    "step {global_step:,}: held-out loss {logs:.3f}",
                    global_step=state.global_step,
                    logs=logs["eval_loss"],
                )
            )
        elif "loss" in logs and done:
            rate = done / (time.time() - self._started)
            self._report(
                Message(
                    "step {global_step:,}/{max_steps:,} · loss {logs:.3f} · {tokens_per_step:,.0f} "
                    "tokens/s · {rate:.1f} min left",
                    global_step=state.global_step,
                    max_steps=state.max_steps,
                    logs=logs["loss"],
                    tokens_per_step=rate * self._tokens_per_step,
                    rate=(state.max_steps - state.global_step) / rate / 60,
                )
            )


class _LongPositions(TrainerCallback):
    """Initialises the positions that short rows never reach, at the first step of long rows."""

    def __init__(self, first_long_step: int, short_length: int) -> None:
        self._step, self._learnt = first_long_step, short_length

    def on_step_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        if 0 < state.global_step == self._step:
            bert = hasattr(model, "bert")
            spread_positions(model.bert.embeddings.position_embeddings if bert else model.transformer.wpe, self._learnt)


def _train(
    tokenizer: PreTrainedTokenizerBase,
    steps: Steps,
    held_out: Steps,
    work: Path,
    settings: Settings,
    device: str,
    save_every: int,
    evaluate_every: int,
    report: Report,
    on_step: OnStep,
) -> PreTrainedModel:
    set_seed(settings.seed)
    on_cpu = device == "cpu" or (device == "auto" and not torch.cuda.is_available())
    collate = collator(tokenizer, whole_words=settings.whole_word_masking)
    trainer = _Trainer(
        settings=settings,
        model=_model(tokenizer, settings),
        args=TrainingArguments(
            output_dir=str(work / "checkpoints"),
            max_steps=settings.steps,
            learning_rate=settings.learning_rate,
            warmup_steps=settings.warmup_steps,
            lr_scheduler_type="cosine",
            per_device_train_batch_size=1,
            per_device_eval_batch_size=1,
            train_sampling_strategy="sequential",
            bf16=settings.precision == "bf16",
            use_cpu=on_cpu,
            seed=settings.seed,
            save_steps=save_every,
            save_total_limit=2,
            eval_strategy="steps",
            eval_steps=evaluate_every,
            logging_steps=50,
            disable_tqdm=True,
            report_to="none",
            remove_unused_columns=False,
            dataloader_pin_memory=not on_cpu,
            prediction_loss_only=True,
        ),
        train_dataset=steps,
        eval_dataset=held_out,
        data_collator=lambda items: collate(torch.from_numpy(items[0])),
        callbacks=[
            _Progress(settings.tokens_per_step, report, on_step),
            # A model that is started from has learnt all positions.
            *([] if settings.start else [_LongPositions(steps.n_short, settings.max_length // SHORT_ROW_DIVISOR)]),
        ],
    )
    trainer.remove_callback(PrinterCallback)  # it prints raw dictionaries; ours says the same in words
    last = last_complete_checkpoint(work / "checkpoints")
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    return trainer.model  # type: ignore[return-value]


def _model(tokenizer: PreTrainedTokenizerBase, settings: Settings) -> PreTrainedModel:
    model = _new_model(tokenizer, settings)
    if settings.start is not None:
        start_from(model, tokenizer, Path(settings.start), settings.architecture)
    return model


def _new_model(tokenizer: PreTrainedTokenizerBase, settings: Settings) -> PreTrainedModel:
    if settings.architecture == "bert":
        return BertForMaskedLM(
            BertConfig(
                vocab_size=len(tokenizer),
                hidden_size=settings.hidden,
                num_hidden_layers=settings.layers,
                num_attention_heads=settings.heads,
                intermediate_size=4 * settings.hidden,
                max_position_embeddings=settings.max_length,
                pad_token_id=tokenizer.pad_token_id,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
            )
        )
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=settings.hidden,
            n_layer=settings.layers,
            n_head=settings.heads,
            n_positions=settings.max_length,
            activation_function="gelu_pytorch_tanh",  # gelu_new in one kernel
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def _tokenizer(texts: Texts, work: Path, settings: Settings, report: Report) -> PreTrainedTokenizerBase:
    folder = work / "tokenizer"
    if settings.keep_vocabulary:
        return AutoTokenizer.from_pretrained(settings.start)
    if not (folder / "tokenizer_config.json").exists():
        report(Message("learning a vocabulary of {vocab_size:,}", vocab_size=settings.vocab_size))
        writing = WRITINGS[settings.language]
        sentences = (sentence for document in texts.training() for sentence in writing.sentences(document.text))
        sample = sample_sentences(sentences, settings.vocabulary_every)
        match tokenizer_of(settings):
            case "wordpiece":
                train_wordpiece(sample, settings.vocab_size, folder)
            case "basic-wordpiece":
                train_basic_wordpiece(sample, settings.vocab_size, folder)
            case "character":
                train_characters(sample, settings.vocab_size, folder)
            case _:
                train_unigram(
                    sample,
                    settings.vocab_size,
                    folder,
                    masked=settings.architecture == "bert",
                    straight_quotes=settings.language == "en",
                )
    return AutoTokenizer.from_pretrained(folder)


def _row_format(tokenizer: PreTrainedTokenizerBase, settings: Settings) -> RowFormat:
    bert = settings.architecture == "bert"
    opening, closing = ("cls_token_id", "sep_token_id") if bert else ("bos_token_id", "eos_token_id")
    return RowFormat(
        getattr(tokenizer, opening),
        getattr(tokenizer, closing),
        int(tokenizer.pad_token_id),
        settings.max_length,
        closes_row=bert,
    )


def _require_enough(steps: Steps, held_out: Steps, settings: Settings) -> None:
    for part, steps_of_part, needed in (
        (Message("train on"), steps, settings.steps),
        (Message("measure on"), held_out, 1),
    ):
        if len(steps_of_part) < needed:
            raise InputError(
                Message(
                    "The corpus is too small to {part}: its {documents} and {tokens} do "
                    "not fill one step. Add text, or lower --tokens-per-step or raise "
                    "--held-out-share.",
                    part=part,
                    documents=count(steps_of_part.counts["documents"], "document"),
                    tokens=count(steps_of_part.counts["tokens"], "token"),
                )
            )
