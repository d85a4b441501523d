"""The card of every measure: what it asks, its formula, range, unit and better end, and where it is from.

Help texts, axes and the documents read the cards, so that a direction is written down once.
"""

from __future__ import annotations

from engine.measures.cards.card import MeasureCard
from engine.measures.cards.clusters import CLUSTER_CARDS
from engine.measures.cards.judgements import DESIGN_CARDS, JUDGEMENT_CARDS
from engine.measures.cards.studies import STUDY_CARDS
from engine.measures.cards.systems import SYSTEM_CARDS
from engine.messages.message import Message

_CLUSTERS = Message("Shibayama, Cao, Bai, Ma, Shinnou 2020 (PACLIC 34), section 3.1")
_BERTSCORE = Message("Zhang, Kishore, Wu, Weinberger, Artzi 2020 (BERTScore, ICLR), section 3")
_NOVELS = Message("BERTScore for Japanese novel translation with a penalty by edit distance of readings, section 3")
_LENGTH = Message("Ueda, Mita, Komachi 2024 (NLP), section 3.2")
_WORDS = Message("Pimentel and Meister 2024 (EMNLP), for tokenizers that mark the beginnings of words; Oh and Schuler "
                 "2024 (EMNLP)")

_ALL = (
    MeasureCard(
        "in_class_dispersion", "In-class dispersion", "A_m",
        "A_m = Σ_i Σ_{j in C_i} ||g_i − x_ij||²", "[0, ∞)", "squared vector entries", "lower",
        "How far do the sentences of a class lie from its centroid, summed over all sentences?",
        Message("{_CLUSTERS}, equation 1", _CLUSTERS=_CLUSTERS),
        digits=None,
    ),
    MeasureCard(
        "out_of_class_dispersion", "Out-of-class dispersion", "B_m",
        "B_m = Σ_i ||g − g_i||²,  g = mean of the g_i", "[0, ∞)", "squared vector entries", "higher",
        "How far do the classes' centroids lie from their common mean, summed over the classes?",
        Message("{_CLUSTERS}, equation 2", _CLUSTERS=_CLUSTERS),
        digits=None,
    ),
    MeasureCard(
        "dispersion_score", "Dispersion score", "M_m",
        "M_m = A_m / B_m", "[0, ∞)", "", "lower",
        "How much do sentences scatter within their classes for each unit that the classes lie apart? "
        "It grows with the number of sentences per class.",
        Message("{_CLUSTERS}, step 5", _CLUSTERS=_CLUSTERS),
        digits=None,
    ),
    *CLUSTER_CARDS, *SYSTEM_CARDS, *JUDGEMENT_CARDS, *DESIGN_CARDS, *STUDY_CARDS,
    MeasureCard(
        "mask_probability", "Probability of the masked word", "p",
        "p = Π_j P(piece_j | sentence, pieces 1 to j − 1; the later ones masked)", "[0, 1]", "", "higher",
        "How probable does the model find the word that was masked? A word of several pieces is several masks, and its "
        "probability the product of theirs.",
        "Shibayama, Cao, Bai, Ma, Shinnou 2020 (PACLIC 34), section 3.2; several pieces are ours",
        digits=None,
    ),
    MeasureCard(
        "precision", "BERTScore precision", "P",
        "P = Σ_j w_j max_i cos(x_i, x̂_j) / Σ_j w_j", "[−1, 1]", "", "higher",
        "How much of the candidate is found in the reference?",
        f"{_BERTSCORE}",
    ),
    MeasureCard(
        "recall", "BERTScore recall", "R",
        "R = Σ_i w_i max_j cos(x_i, x̂_j) / Σ_i w_i", "[−1, 1]", "", "higher",
        "How much of the reference is found in the candidate?",
        f"{_BERTSCORE}",
    ),
    MeasureCard(
        "f1", "BERTScore F1", "F1",
        "F1 = 2 P R / (P + R)", "[−1, 1] for positive P and R", "", "higher",
        "How well do the two sentences cover each other, both ways at once?",
        f"{_BERTSCORE}",
    ),
    MeasureCard(
        "idf", "Inverse document frequency", "idf",
        "idf(t) = log((N + 1) / (df(t) + 1)),  0 for tokens round every text", "[0, log(N + 1)]", "nats", "neither",
        "How rare is the token among the N documents of a corpus?",
        Message("{_BERTSCORE}, with the smoothing of bert_score 0.3.13", _BERTSCORE=_BERTSCORE),
        digits=2,
    ),
    MeasureCard(
        "agreement", "Agreement coefficient", "M",
        "M = 1 − editdistance(reading, reading of its match) / longer reading;  "
        "1 for tokens that are not low-frequency",
        "[0, 1]", "", "higher",
        "Is the low-frequency token read like the token it was matched with?",
        _NOVELS,
    ),
    MeasureCard(
        "name_similarity", "Similarity of names by reading", "M²",
        "M² in place of the cosine, 3 w in place of w;  M = 1 − editdistance / longer reading, the greatest over the "
        "readings of both names",
        "[0, 1]", "", "higher",
        "Is the name of one sentence read like a name of the other, however the two are written?",
        "ours; see the study of names in the documents",
    ),
    MeasureCard(
        "precision_penalty", "Precision penalty", "penalty_P",
        "penalty_P = mean of M over the candidate's tokens", "[0, 1], 1 = no penalty", "", "higher",
        "How far do the candidate's rare tokens keep their reading in the reference?",
        _NOVELS,
    ),
    MeasureCard(
        "recall_penalty", "Recall penalty", "penalty_R",
        "penalty_R = mean of M over the reference's tokens", "[0, 1], 1 = no penalty", "", "higher",
        "How far do the reference's rare tokens keep their reading in the candidate?",
        _NOVELS,
    ),
    MeasureCard(
        "penalized_precision", "Penalised precision", "P′",
        "P′ = P · penalty_P", "[−1, 1]", "", "higher",
        "How much of the candidate is found in the reference, names that are read otherwise held against it?",
        _NOVELS,
    ),
    MeasureCard(
        "penalized_recall", "Penalised recall", "R′",
        "R′ = R · penalty_R", "[−1, 1]", "", "higher",
        "How much of the reference is found in the candidate, names that are read otherwise held against it?",
        _NOVELS,
    ),
    MeasureCard(
        "penalized_f1", "Penalised F1", "F1′",
        "F1′ = 2 P′ R′ / (P′ + R′)", "[−1, 1] for positive P′ and R′", "", "higher",
        "How well do the two sentences cover each other, names that are read otherwise held against them?",
        _NOVELS,
    ),
    MeasureCard(
        "log_likelihood", "Log-likelihood", "LP",
        "LP = log P(S), the sum over the scored tokens", "(−∞, 0]", "nats", "higher",
        "How probable is the sentence to the model? Each further token lowers it.",
        "Ueda, Mita, Komachi 2024 (NLP), section 2, equations 1 to 3",
        digits=2,
    ),
    MeasureCard(
        "mean_log_likelihood", "Mean log-likelihood", "MeanLP",
        "MeanLP = log P(S) / |S|", "(−∞, 0]", "nats per token", "higher",
        "How probable is the sentence to the model, per token?",
        Message("{_LENGTH}, equation 4", _LENGTH=_LENGTH),
    ),
    MeasureCard(
        "penalized_log_likelihood", "Length-penalised log-likelihood", "PenLP",
        "PenLP = log P(S) / ((5 + |S|) / (5 + 1))^α", "(−∞, 0]", "nats per (scaled length)^α", "higher",
        "How probable is the sentence to the model, its length counted partly (α = 0.8) against it?",
        Message("{_LENGTH}, equation 5, the outer bracket restored", _LENGTH=_LENGTH),
    ),
    MeasureCard(
        "log_likelihood_per_character", "Log-likelihood per character", "LP / character",
        "log P(S) / number of characters", "(−∞, 0]", "nats per character", "higher",
        "How probable is the sentence to the model, per character, whatever its tokenizer makes of it?",
        "Our addition; the usual way to compare models with different vocabularies",
    ),
    MeasureCard(
        "sub_linear_log_likelihood", "Sub-linearly normalised log-likelihood", "SLLN-LP",
        "SLLN-LP = log P(S) / |S|^0.5", "(−∞, 0]", "nats per square root of a token", "higher",
        "How probable is the sentence to the model, its length counted by the square root? Between LP, which favours "
        "short sentences, and MeanLP, which favours long ones.",
        "Liu et al. 2026 (ZhoBLiMP, TACL 14), with the exponent of its code",
    ),
    MeasureCard(
        "log_likelihood_per_byte", "Log-likelihood per byte", "−BPB",
        "log2 P(S) / number of bytes in UTF-8", "(−∞, 0]", "bits per byte", "higher",
        "How many bits does the model need for each byte of the sentence, as a negative number? Unlike characters, "
        "bytes compare scripts, too: a Japanese character is three.",
        "Gao et al. 2020 (The Pile), section 3.1, with the sign turned so that higher is better",
    ),
    MeasureCard(
        "morcela", "Fitted length and frequency", "MORCELA",
        "MORCELA = (log P(S) − β · log P_u(S) + γ) / |S|", "(−∞, ∞)", "nats per token, adjusted", "higher",
        "How probable is the sentence to the model, with as much of word frequency (β) and of length (γ) taken off as "
        "human judgements of other sentences ask for? β = 1 and γ = 0 is SLOR.",
        "Tjuatja, Neubig, Linzen, Hao 2025 (NAACL), section 3; fitted by pairs in 5 parts, each scored by the others",
    ),
    MeasureCard(
        "word_log_likelihood", "Log-likelihood of the words", "WordLP",
        "WordLP = log P(S) + log Z_end − log Z_start;  Z: the probability that a word begins, or the text ends, next",
        "(−∞, 0]", "nats", "higher",
        "How probable are the words of the sentence to the model? Where a leading space marks how a word begins, the "
        "tokens of a word are also the beginning of longer words; only what may stand next tells that it has ended.",
        _WORDS,
        digits=2,
    ),
    MeasureCard(
        "mean_word_log_likelihood", "Mean log-likelihood of the words", "MeanWordLP",
        "MeanWordLP = WordLP / number of words", "(−∞, 0]", "nats per word", "higher",
        "How probable is the sentence to the model, per word, in however many tokens the tokenizer cuts a word?",
        Message("{_WORDS}; the mean is ours", _WORDS=_WORDS),
    ),
    MeasureCard(
        "accuracy", "Accuracy on minimal pairs", "accuracy",
        "accuracy = n_correct / n;  a tie counts in n, never as correct", "[0, 1], 0.5 is chance", "", "higher",
        "In how many pairs does the model give the acceptable sentence the higher score?",
        "Ueda, Mita, Komachi 2024 (NLP), section 1; ties counted apart is ours",
    ),
    MeasureCard(
        "classification_accuracy", "Classification accuracy", "acc",
        "acc = n_right / n_test,  its mean over the runs", "[0, 1], the baseline is the largest class's share", "",
        "higher",
        "In how many test sentences does a small network, trained on the model's vectors, say the right class?",
        "Shibayama, Cao, Bai, Ma, Shinnou 2020 (NLP 2020, in Japanese), section 5.2",
    ),
    MeasureCard(
        "pearson", "Pearson correlation", "r",
        "r = Σ (x_i − x̄)(y_i − ȳ) / sqrt(Σ (x_i − x̄)² Σ (y_i − ȳ)²)", "[−1, 1], 0 is no linear relation", "", "higher",
        "How near to a straight line do metric and human scores lie?",
        "Pearson 1895; 95 % interval by Fisher's z (1921)",
    ),
    MeasureCard(
        "spearman", "Spearman correlation", "ρ",
        "ρ = Pearson's r of the ranks", "[−1, 1], 0 is no monotone relation", "", "higher",
        "Do metric and human scores put the pairs in one order, whatever the distances?",
        "Spearman 1904; 95 % interval by the infinitesimal jackknife (Efron 1981), by simulation below 20 pairs",
    ),
    MeasureCard(
        "kendall", "Kendall correlation", "τ_b",
        "τ_b = (C − D) / sqrt((C + D + T_x)(C + D + T_y))", "[−1, 1], 0 is as often as not", "", "higher",
        "Of any two pairs, how much oftener do metric and human agree on the better one than disagree?",
        "Kendall 1945; 95 % interval by Long and Cliff 1997, by simulation below 20 pairs",
    ),
    MeasureCard(
        "williams", "Williams' test", "t",
        "t = (r₁₂ − r₁₃) sqrt((n − 1)(1 + r₂₃) / (2K (n − 1)/(n − 3) + r̄² (1 − r₂₃)³))",
        "(−∞, ∞), n − 3 degrees of freedom", "", "neither",
        "Does one score follow the human's better than another, or only by luck? r₂₃ is the correlation of the two.",
        "Williams 1959; Graham and Baldwin 2014 (EMNLP); here two-sided",
        digits=2,
    ),
    MeasureCard(
        "annotator_agreement", "Annotator agreement", "mean r",
        "mean of Pearson's r over every two annotators", "[−1, 1], 0 is what guessing reaches", "", "higher",
        "Do the annotators agree with each other?",
        "BERTScore for Japanese novel translation with a penalty by edit distance of readings, section 4.1",
    ),
    MeasureCard(
        "sentbleu", "SentBLEU", "BLEU",
        "BLEU = 100 · BP · exp(mean of log p_n, n = 1 … 4)", "[0, 100]", "%", "higher",
        "How many of the candidate's words and word sequences stand in the reference?",
        "Papineni et al. 2002, smoothed for sentences by sacrebleu (Post 2018)",
        digits=1,
    ),
    MeasureCard(
        "chrf", "Character F-score", "chrF",
        "chrF = 100 · (1 + β²) P R / (β² P + R),  β = 2", "[0, 100]", "%", "higher",
        "How many character sequences do candidate and reference share?",
        "Popović 2015, by sacrebleu",
        digits=1,
    ),
    MeasureCard(
        "vector_cosine", "Cosine of sentence vectors", "cos",
        "cos(g, h) = g · h / (||g|| ||h||)", "[−1, 1]", "", "higher",
        "Do the vectors of the two sentences point the same way?",
        "In the role of Quick-Thought (Logeswaran and Lee 2018) in the paper on Japanese novel translation, section 5",
    ),
    MeasureCard(
        "slor", "Syntactic log-odds ratio", "SLOR",
        "SLOR = (log P(S) − log P_u(S)) / |S|", "(−∞, ∞)", "nats per token above the unigrams", "higher",
        "How much likelier does the model find the tokens in this sentence than anywhere, per token?",
        "Pauls and Klein 2012; Lau, Clark, Lappin 2017; P_u with one added to every count",
    ),
    MeasureCard(
        "length_slope", "Length slope", "slope",
        "log-odds of being right = intercept + slope · (|A| − |U|)", "(−∞, ∞), 0 is no bias", "log-odds per token",
        "neither",
        "By how much does each further token of the acceptable sentence change the odds of being right? Below 0 the "
        "model favours the shorter sentence, above 0 the longer one.",
        "Our addition: a logistic curve through figure 2 of Ueda, Mita, Komachi 2024 (NLP), ties left out; where one "
        "difference parts right from wrong it is infinite, and Firth's penalised estimate (1993) is drawn",
    ),
    MeasureCard(
        "accuracy_difference", "Difference of accuracies", "Δ accuracy",
        "Δ = (pairs right by the first model alone − by the second alone) / n", "[−1, 1], 0 is no difference", "",
        "neither",
        "Is one model right more often than the other on the same pairs? Above 0 the first is.",
        "McNemar 1947, exact; 95 % interval by Agresti and Min 2005; many models corrected by Holm 1979",
    ),
    MeasureCard(
        "model_kl", "KL divergence of two models", "KL",
        "KL ≈ ||q_i − q_j||² / (2 N · mean bytes · ln 2),  q_i the double-centred log-likelihoods of N sentences",
        "[0, ∞)", "bits per byte", "neither",
        "How differently do two models distribute their probability over sentences? Approximate: for near models, and "
        "sentences drawn near to both.",
        "Oyama, Yamagiwa, Takase, Shimodaira 2025 (ACL, arXiv 2502.16173); without clipping", digits=None,
    ),
    MeasureCard(
        "stereotype_preference", "Stereotypes preferred, by whole-sentence likelihood", "share",
        "share = pairs whose more stereotyping sentence has the higher score / pairs",
        "[0, 1], 0.5 is no preference", "", "neither",
        "In how many pairs does the model find the whole sentence that stereotypes more likelier?",
        "Data: Nangia, Vania, Bhalerao, Bowman 2020 (CrowS-Pairs, EMNLP); scores as in Ueda, Mita, Komachi 2024",
    ),
    MeasureCard(
        "shared_token_preference", "Stereotypes preferred, by shared tokens", "share of shared tokens",
        "share = pairs whose shared tokens are likelier in the more stereotyping sentence / pairs",
        "[0, 1], 0.5 is no preference", "", "neither",
        "In how many pairs are the words that both sentences share likelier beside the words of the one that "
        "stereotypes more?",
        "Nangia, Vania, Bhalerao, Bowman 2020 (CrowS-Pairs, EMNLP), section 4: the benchmark's own measure",
    ),
)

CARDS: dict[str, MeasureCard] = {card.key: card for card in _ALL}
