"""The models of the four papers. The facts on a card are those of the paper and of the model's publisher."""

from __future__ import annotations

from engine.messages.message import Message
from engine.models.sources.cards import PaperCard
from engine.models.sources.recipes import Recipe

CLUSTERS = Message("Shibayama et al. 2020 (PACLIC 34)")
CLUSTERS_FIRST = Message("Shibayama et al. 2020 (NLP 2020)")
NOVELS = Message("BERTScore for Japanese novel translation")
LENGTH_BIAS = Message("Ueda, Mita, Komachi 2024 (NLP 2024)")
TENSORFLOW = Message("published as a checkpoint of TensorFlow 1, to be converted once (see docs/models.md)")


PAPER_CARDS: dict[str, PaperCard] = {
    card.name: card
    for card in (
        PaperCard(
            "paper/kyoto-univ",
            ((CLUSTERS, Message("Kyoto Univ. Ver.")), (CLUSTERS_FIRST, "京大版"), (NOVELS, Message("Wikipedia Model"))),
            "masked",
            "Japanese",
            Message("Kyoto University, Kurohashi lab"),
            "https://nlp.ist.i.kyoto-u.ac.jp/?BERT日本語Pretrainedモデル",
            Message("Juman++, then subwords (BPE)"),
            "32,000",
            corpus="Wikipedia",
            model_size="Base",
            whole_word_masking="No",
            max_seq_length="128",
            needs=Message(
                "the unpacked Japanese_L-12_H-768_A-12_E-30_BPE_transformers.zip (config.json, "
                "pytorch_model.bin, vocab.txt)"
            ),
            recipe=Recipe("jumanpp", ("full-width",), "wordpiece", 128),
            note=Message(
                "The normal version, without whole word masking. No text is lower-cased, and kanji stay together."
            ),
        ),
        PaperCard(
            "paper/mecab",
            ((CLUSTERS, Message("MeCab Ver.")), (CLUSTERS_FIRST, "MeCab 版")),
            "masked",
            "Japanese",
            Message("Stockmark (Morinaga)"),
            "https://qiita.com/mkt3/items/3c1278339ff1bcc0187f",
            Message("MeCab with NEologd, no subwords"),
            "32,000",
            corpus=Message("Articles of business news"),
            model_size="Base",
            whole_word_masking="No",
            needs=Message("a directory with config.json, pytorch_model.bin and vocab.txt"),
            recipe=Recipe("mecab-neologd", (), "words"),
            note=Message(
                "In their first paper the authors ran it with subwords, which gave it another score. The case is "
                "kept. One text of the second paper says that its vocabulary holds “cd” and no “CD”, which it "
                "cut into “C” and “D”; another text says so of the SP version, and only that can cut a word. "
                'Where vocab.txt holds “cd” and no “CD”, lower-case with the recipe {"card": "paper/mecab", '
                '"normalize": ["lower"]}.'
            ),
        ),
        PaperCard(
            "paper/sp",
            ((CLUSTERS, Message("SP Ver.")), (CLUSTERS_FIRST, "SP 版")),
            "masked",
            "Japanese",
            Message("Yohei Kikuta"),
            "https://github.com/yoheikikuta/bert-japanese",
            Message("SentencePiece, lower-cased"),
            "32,000",
            corpus="Wikipedia",
            model_size="Base",
            whole_word_masking="No",
            needs=Message(
                "a directory with config.json, pytorch_model.bin, wiki-ja.model and wiki-ja.vocab; {TENSORFLOW}",
                TENSORFLOW=TENSORFLOW,
            ),
            recipe=Recipe(None, ("lower",), "sentencepiece"),
            note=Message(
                "Lower-cased, as both texts of the second paper say. One of them tells of the MeCab version how "
                "“CD” was cut into “C” and “D” without that; it fits this one."
            ),
        ),
        PaperCard(
            "paper/tohoku-univ",
            ((CLUSTERS, Message("Tohoku Univ. Ver.")), (CLUSTERS_FIRST, "東北大版")),
            "masked",
            "Japanese",
            Message("Tohoku University, Inui and Suzuki lab"),
            "https://github.com/cl-tohoku/bert-japanese",
            Message("MeCab, then WordPiece"),
            "32,000",
            corpus="Wikipedia",
            model_size="Base",
            whole_word_masking="No",
            max_seq_length="512",
            hub="cl-tohoku/bert-base-japanese",
            recipe=Recipe("mecab-ipadic", ("nfkc",), "wordpiece"),
            note=Message(
                "The paper's table says MeCab with NEologd. By the publisher's account NEologd found the ends of "
                "sentences when the corpus was made, and tokens come from MeCab with ipadic; so they do here."
            ),
        ),
        PaperCard(
            "paper/nict",
            ((CLUSTERS, Message("NICT Ver.")),),
            "masked",
            "Japanese",
            "NICT",
            "https://alaginrc.nict.go.jp/nict-bert/index.html",
            Message("MeCab with Juman's dictionary, then subwords (BPE)"),
            "32,000",
            corpus="Wikipedia",
            model_size="Base",
            whole_word_masking="No",
            max_seq_length="128, then 512",
            needs=Message(
                "the unpacked NICT_BERT-base_JapaneseWikipedia_32K_BPE.zip (config.json, pytorch_model.bin, vocab.txt)"
            ),
            recipe=Recipe("mecab-jumandic", ("full-width",), "wordpiece"),
            note=Message(
                "The BPE version, with MeCab and the dictionary of Juman, as its publisher says. One text of the "
                "paper calls that “MeCab + Jumandic”, another “MeCab + Juman++”."
            ),
        ),
        PaperCard(
            "paper/laboro",
            ((CLUSTERS, Message("Laboro Ver.")),),
            "masked",
            "Japanese",
            "Laboro.AI",
            "https://github.com/laboroai/Laboro-BERT-Japanese",
            "SentencePiece",
            "32,000",
            corpus=Message("Texts on the Internet (12 GB)"),
            model_size="Base",
            whole_word_masking="No",
            max_seq_length="128, then 512",
            needs=Message(
                "a directory with config.json, pytorch_model.bin, webcorpus.model and webcorpus.vocab; {TENSORFLOW}",
                TENSORFLOW=TENSORFLOW,
            ),
            recipe=Recipe(None, (), "sentencepiece"),
        ),
        PaperCard(
            "paper/hotto-sns",
            ((NOVELS, Message("SNS Model")),),
            "masked",
            "Japanese",
            Message("Hotto Link"),
            "https://github.com/hottolink/hottoSNS-bert",
            "SentencePiece",
            "32,000",
            corpus=Message("85 million tweets"),
            model_size="Base",
            max_seq_length="64",
            needs=Message(
                "a directory with config.json, pytorch_model.bin and tokenizer_spm_32K.model; given out on "
                "request, {TENSORFLOW}",
                TENSORFLOW=TENSORFLOW,
            ),
            recipe=Recipe(None, ("nfkc",), "sentencepiece", 64),
            note=Message("Its corpus had <url> and <mention> for addresses and the names of users: write them so."),
        ),
        PaperCard(
            "paper/novel",
            ((NOVELS, Message("Novel Model")),),
            "masked",
            "Japanese",
            Message("the authors; never published"),
            "https://syosetu.com",
            Message("morphological analysis, then subwords"),
            None,
            corpus=Message("6,876,198 sentences of novels (小説家になろう)"),
            needs=Message("a model of your own: `python -m engine pretrain` makes one of its kind from novels"),
        ),
        PaperCard(
            "paper/multilingual-bert",
            ((LENGTH_BIAS, Message("BERT multilingual base (cased)")), (NOVELS, Message("Multilingual Model"))),
            "masked",
            "104 languages",
            "Google",
            "https://github.com/google-research/bert",
            "WordPiece",
            "119,547",
            corpus="Wikipedia",
            model_size="Base",
            hub="bert-base-multilingual-cased",
            note=Message("The paper on novel translation does not say whether its model was the cased one."),
        ),
        PaperCard(
            "paper/gpt2-medium",
            ((LENGTH_BIAS, "GPT-2 medium"),),
            "causal",
            "English",
            "OpenAI",
            "https://huggingface.co/gpt2-medium",
            "BPE",
            "50,256",
            model_size="Medium",
            hub="gpt2-medium",
        ),
        PaperCard(
            "paper/bert-base-cased",
            ((LENGTH_BIAS, Message("BERT base (cased)")),),
            "masked",
            "English",
            "Google",
            "https://huggingface.co/bert-base-cased",
            "WordPiece",
            "28,996",
            model_size="Base",
            hub="bert-base-cased",
        ),
        PaperCard(
            "paper/roberta-base",
            ((LENGTH_BIAS, Message("RoBERTa base")),),
            "masked",
            "English",
            "Meta",
            "https://huggingface.co/roberta-base",
            "BPE",
            "50,263",
            model_size="Base",
            hub="roberta-base",
        ),
        PaperCard(
            "paper/japanese-gpt2-medium",
            ((LENGTH_BIAS, "japanese-gpt2-medium"),),
            "causal",
            "Japanese",
            "rinna",
            "https://huggingface.co/rinna/japanese-gpt2-medium",
            "Unigram",
            "32,000",
            corpus=Message("CC-100 and Wikipedia"),
            model_size="Medium",
            hub="rinna/japanese-gpt2-medium",
            recipe=Recipe(None, ("lower",), "own"),
            note=Message(
                "Lower-cased, as its publisher tells; the plain id rinna/japanese-gpt2-medium leaves texts as "
                "they are. The paper does not say which it did."
            ),
        ),
        PaperCard(
            "paper/arabic-gpt2",
            ((LENGTH_BIAS, Message("Arabic GPT2")),),
            "causal",
            "Arabic",
            Message("AUB MIND Lab"),
            "https://github.com/aub-mind/arabert",
            "Unigram",
            "64,000",
            needs=Message(
                "a choice of size, which the paper leaves open: aubmindlab/aragpt2-base and "
                "aubmindlab/aragpt2-medium can be named as they are"
            ),
        ),
        PaperCard(
            "paper/arabert-v2",
            ((LENGTH_BIAS, Message("AraBERT v2")),),
            "masked",
            "Arabic",
            Message("AUB MIND Lab"),
            "https://github.com/aub-mind/arabert",
            "Unigram",
            "64,000",
            hub="aubmindlab/bert-base-arabertv2",
            note=Message(
                "Trained on words segmented by Farasa: give it such sentences. The paper does not say whether it did."
            ),
        ),
        PaperCard(
            "paper/gpt2-wechsel-french",
            ((LENGTH_BIAS, "gpt2-wechsel-french"),),
            "causal",
            "French",
            Message("Minixhofer et al."),
            "https://huggingface.co/benjamin/gpt2-wechsel-french",
            "BPE",
            "50,257",
            hub="benjamin/gpt2-wechsel-french",
        ),
        PaperCard(
            "paper/roberta-base-wechsel-french",
            ((LENGTH_BIAS, "roberta-base-wechsel-french"),),
            "masked",
            "French",
            Message("Minixhofer et al."),
            "https://huggingface.co/benjamin/roberta-base-wechsel-french",
            "BPE",
            "50,265",
            model_size="Base",
            hub="benjamin/roberta-base-wechsel-french",
        ),
        PaperCard(
            "paper/xlm-roberta-base",
            ((LENGTH_BIAS, Message("XLNet-RoBERTa base")),),
            "masked",
            "100 languages",
            "Meta",
            "https://huggingface.co/xlm-roberta-base",
            "Unigram",
            "119,547",
            corpus="CC-100",
            model_size="Base",
            hub="xlm-roberta-base",
            note=Message(
                "Label and vocabulary size as printed. 119,547 is multilingual BERT's; this one has 250,002 pieces."
            ),
        ),
    )
}
