"""The sentences of the methods paragraph in English. Parts in braces; the names are those of `japanese`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LANGUAGE = "en"
SEPARATOR = " "
# Without and with a revision.
MODEL = ("{name}", "{name} (revision {revision})")
LABELLED = ("{label} ({name})", "{label} ({name}, revision {revision})")
WITH_CITATION = "{name} {cite}"
# At the end of a sentence that is not of all models.
OF_MODELS = ", for {models}"

SENTENCES: Mapping[str, str] = {
    "data": "We evaluated {models} on {n} {items} of {dataset}.",
    "unusable": "Rows of the file that cannot be used were left out beforehand ({n}).",
    "excluded": "Items that a model cannot process were left out for it ({n} in all); they are listed with the reason.",
    "computed": "Models were computed in {dtype} with PyTorch {torch} and Transformers {transformers} {cite}{whom}.",
    "served": "What {whom} gives was computed by a server, in the server's own precision (model {model}, software "
    "{version}).",
    "served without version": "What {whom} gives was computed by a server, in the server's own precision (model "
    "{model}; the version of its software is not known).",
    "from a file": "The log-likelihoods of {whom} were not computed here; they were read from the file {file} ({form}).",
    "vectors from a file": "The sentence vectors of {whom} were not computed here; they were read from the file {file} "
    "({form}).",
    "tool": "All numbers are by Hakari {version} (signature {signature}).",
    "vectors": "A sentence is represented by {pooling}, taken from hidden layer {layer} (0 is the embeddings){whom}.",
    "published vectors": "A sentence is represented by its vector as published with the model ({how}), from hidden "
    "layer {layer} (0 is the embeddings), computed as by sentence-transformers {cite}{whom}.",
    "prompt": "For these vectors every text was preceded by the prompt “{prompt}”{whom}.",
    "truncated": "Vectors were cut to their first {n} dimensions{whom}.",
    "normalised": "Texts were normalised beforehand ({steps}).",
    "whitened": "Before every measure the sentence vectors were whitened {cite}: the first {n} principal components of all "
    "sentences{whom}, each divided by its standard deviation.",
    "components removed": "Before every measure the mean of the sentence vectors and their first principal components were "
    "taken off {cite} ({n} components).",
    "usual components removed": "Before every measure the mean of the sentence vectors and their first principal components "
    "were taken off {cite} (a hundredth as many as there are dimensions, at least one).",
    "centred": "For maps and nearest neighbours the mean of the vectors was subtracted.",
    "dispersions": "Following Shibayama et al. {cite}, we report the in-class dispersion A_m (the sum of the squared "
    "distances of the sentence vectors to the centroid of their class), the out-of-class dispersion B_m "
    "(the sum of the squared distances of the centroids to their mean), and the score M_m = A_m / B_m, "
    "of which smaller values mean that the classes are kept apart better.",
    "lone classes": "Classes of a single sentence were left out.",
    "cluster intervals": "Intervals are 95% percentile intervals of a bootstrap {cite} that resamples the sentences "
    "within each class ({n} resamples, seed {seed}); two models are compared on the same "
    "resamples. The score is also held against {n} permutations of the labels {permuted}.",
    "validity": "Beside the score stand the silhouette {silhouette}, the Caliński-Harabasz {calinski} and "
    "Davies-Bouldin indices {davies}, and of a k-means clustering the V-measure {measure}, the adjusted "
    "Rand "
    "index {rand} and the normalised mutual information {nmi}, by scikit-learn {version} {library}.",
    "umap": "Maps are projections by UMAP {version} {cite} ({neighbours} neighbours, minimum distance {distance}, "
    "{metric} distance, seed {seed}); no number is computed from them.",
    "umap sample": "UMAP was fitted to {fitted} of the sentences, drawn from each class in proportion to its size (seed "
    "{seed}); the others were placed by its transform.",
    "pca": "Maps show the first principal components; no number is computed from them.",
    "network": "As in Shibayama et al. {cite}, a feed-forward network on the sentence vectors (hidden layers of "
    "{hidden} units, {epochs} epochs, batches of {batch}) predicts the class of a sentence, in {runs} runs "
    "with random weights of their own (seeds {first} to {last}).",
    "standardised": "Each dimension was standardised over the training sentences.",
    "split": "Of each class {share}% are the test sentences, {split}.",
    "accuracy intervals": "The 95% interval of the mean accuracy is Wilson's {cite} at the number of test sentences "
    "of "
    "one run; two models are compared sentence by sentence, with the variance between runs "
    "taken into account.",
    "mask": "Following Shibayama et al. {cite}, one word of each sentence is masked, and we report the probability "
    "that "
    "a model gives to it; of a word of several tokens, the product of the probabilities of its tokens from "
    "left "
    "to right, the later ones masked.",
    "mask intervals": "Intervals of the mean are 95% bootstrap-t intervals over the words {cite} ({n} resamples, seed "
    "{seed}), those of differences Student's over the words, and models are compared on the "
    "sentences that all of them could fill.",
    "mask percentiles": "Intervals of the mean are 95% percentile intervals of a bootstrap over the words {cite} ({n} "
    "resamples, seed {seed}), and models are compared on the sentences that all of them could "
    "fill.",
    "bertscore": "Pairs were scored with BERTScore {cite}: each token is matched with the most similar token of the "
    "other sentence, by the cosine of their contextual vectors at hidden layer {layer} (0 is the "
    "embeddings); precision, recall and F1 are not rescaled with a baseline.",
    "rescaled": "Beside them we give rescaled scores, (s − b) / (1 − b), where b is the mean of the score s over {n} "
    "random pairs of the run's own sentences (seed {seed}).",
    "rescaled by a list": "Beside them we give rescaled scores, (s − b) / (1 − b), where b is a baseline of the model.",
    "words": "The units that are matched are words, with the mean similarity of their subwords.",
    "special": "{special}",
    "no special matches": "No token is matched with a special token.",
    "idf none": "All tokens have equal weights.",
    "idf references": "Tokens are weighted by their inverse document frequency among the references.",
    "idf dictionary": "Tokens are weighted by their inverse document frequency in a corpus: {dictionaries}.",
    "idf of words": "Tokens are weighted by the inverse document frequency, in a corpus, of the word that they belong "
    "to: {dictionaries}.",
    "no penalty": "No penalty was applied.",
    "penalty": "Precision and recall are penalised as in the work on BERTScore for Japanese novels {cite}: each is "
    "multiplied by the mean agreement M of its tokens, M being 1 less the edit distance of the readings "
    "of a token and of its match over the length of the longer reading for {criterion} and for tokens that "
    "are not in the vocabulary, and 1 for all other tokens. Readings are those of {scope} by {engine}; "
    "where one of the two is not read in full, both are compared as they are written; {pairing}.",
    "best reference": "A score of a pair with several references is the greatest over its references.",
    "names": "Names (proper nouns, words that UniDic lacks, and numbers with their counters, by MeCab) that "
    "have a counterpart in the other sentence are compared by reading: M squared takes the place "
    "of the cosine of their tokens, M being 1 less the distance of the sounds of the two readings, in morae, "
    "over the length of the longer one. Their weight is {weight} times as great, and names other than numbers "
    "have together at least {share} of the weight of their sentence.",
    "merged sounds": "Spellings of one sound (long vowels, ヴ and バ, ヂ and ジ, ヅ and ズ) count as one.",
    "own readings": "Readings of our own come before all others ({list}).",
    "many own readings": "A list of {n} names with readings of our own, which the signature has in full, comes before "
    "all others.",
    "share threshold": "Low-frequency tokens are those above the {threshold} quantile of the dictionary's idf.",
    "idf threshold": "Low-frequency tokens are those with an idf above {threshold} nats.",
    "readings": "Readings depend on the versions {versions}.",
    "grid": "As in the work on BERTScore for Japanese novels {cite}, {score} was computed under every combination of "
    "model, idf weights ({idfs}) and penalty ({penalties}) that goes together.",
    "grid without idf": "The penalty by readings of low-frequency tokens needs a dictionary and was not combined with "
    "equal weights.",
    "grid without model": "The dictionary {idf} does not fit the tokenizers of {models} and was left out for them.",
    "gold": "The human score of a pair is the mean of its annotators' scores, standardised for each annotator.",
    "correlations": "We report Pearson's r with 95% intervals by Fisher's z {fisher}, and Spearman's ρ and Kendall's "
    "τ_b with those of the infinitesimal jackknife {efron}, {cliff}, or below 20 pairs of simulated "
    "normal orders.",
    "correlations, by formula": "We report Pearson's r with 95% intervals by Fisher's z {fisher}, Spearman's ρ by "
    "Bonett and Wright {bonett} and Kendall's τ_b by Fieller, Hartley and Pearson "
    "{fieller}.",
    "scores of the data": "The scores {names} were not computed here; they were read from columns of the data.",
    "lower scores": "Of {names} lower is better: these scores were taken with the opposite sign.",
    "williams": "The best setting is compared with each other one by Williams' test {cite}, two-sided and without a "
    "correction for the number of settings.",
    "surface": "SentBLEU {bleu} and chrF {chrf} are by sacreBLEU {sacrebleu} ({signatures}).",
    "cosine": "Beside them stands the cosine of sentence vectors: {pooling}, taken from hidden layer {layer}{whom}.",
    "published cosine": "Beside them stands the cosine of sentence vectors as published with the model ({how}), from "
    "hidden layer {layer}, computed as by sentence-transformers {cite}{whom}.",
    "decision": "A model is right about a minimal pair where it gives the acceptable sentence the higher score; ties "
    "are not right. Following Ueda et al. {cite}, accuracies are also given for pairs whose acceptable "
    "sentence has as many tokens as the other (A = U), more (A > U) and fewer (A < U).",
    "causal": "Causal models score a sentence by the sum of its tokens' log-likelihoods from left to right.",
    "running text": "We report the perplexity, the bits per character and the bits per byte {cite} of running text, each the "
    "ratio of the sums over the documents.",
    "stereotypes": "A model prefers a stereotype where it gives the sentence of a pair that stereotypes more the higher score; "
    "ties prefer neither {cite}.",
    "judged": "How well scores tell acceptable from unacceptable sentences is given by the area under the ROC curve, with "
    "95% intervals by DeLong et al. {delong} on the log-odds, and by Matthews correlation at the threshold that is best on "
    "the other parts of the data {cola}.",
    "conditions": "The sentences of an item are compared by the surprisals of their regions, in bits, as in SyntaxGym {cite}: "
    "we report for how many items a formula of them holds, with 95% intervals by Wilson, and its effect, with "
    "Student's over items.",
    "reading": "We report what surprisal explains of reading times beyond a baseline of the word's length, position and, where "
    "it is known, frequency, without and with length and surprisal of the word before: the change of the held-out "
    "log-likelihood of a word by linear regressions with pairwise products of the baseline, with 95% intervals by "
    "Student's t over texts, and the share of the variance that the baseline leaves.",
    "acquisition": "A model has learned a word where its surprisal, by a sigmoid over the logarithm of the training steps, is "
    "half-way from chance to its least {cite}; this age is correlated with that of children.",
    "causal text": "Causal models score a text by the sum of its tokens' log-likelihoods from left to right.",
    "windows": "A text of more than {window} tokens, special ones included, is read in windows of so many, {stride} tokens "
    "apart, and each token is scored once{whom}.",
    "prefix before the text alone": "Windows after the first begin with tokens of the text, as in the recipe of the "
    "documentation of Transformers.",
    "text intervals": "Intervals are 95% bootstrap-t intervals over documents {efron} (seed {seed}); two models are compared "
    "on bits per byte by Student's paired test over the documents that all models scored, corrected by Holm's method {holm}.",
    "prefix": "They read {tokens} before it{whom}.",
    "no prefix": "They read nothing before it, and its first token is not scored{whom}.",
    "templates": "Causal models were also scored with the sentences in {n} templates {cite}: by the log-probability of the "
    "sentence in the template, or by the log-odds of yes as the answer to a question on the sentence.",
    "in-template LP alone": "Causal models were also scored with the sentences in {n} templates {cite}: by the "
    "log-probability of the sentence in the template.",
    "questions alone": "Causal models were also scored by {n} questions on each sentence {cite}: by the log-odds of yes as the "
    "answer.",
    "chat template": "Questions were put into the chat template of the tokenizer.",
    "layers by logit lens": "Surprisal is also taken at every layer by the logit lens {cite}: the final norm and the head of the "
    "model are applied to the states of the layer. The gain of a layer is compared with that of the last one by Student's "
    "paired test over items, corrected by Holm's method {holm}.",
    "leading space": "A space is put before each sentence that a causal model reads.",
    "pll word-l2r": "Masked models score a sentence by its pseudo-log-likelihood, each token masked together with the "
    "later tokens of its word {cite}.",
    "words of pll": "Words are {words}.",
    "pll original": "Masked models score a sentence by its pseudo-log-likelihood, each token masked alone {cite}.",
    "mntp": "A masked token is predicted at the token before it {cite}{whom}.",
    "decoder": "Encoder-decoders score a sentence by the sum of its tokens' log-likelihoods under the decoder, from "
    "left to right; {given}{whom}.",
    "decoder after text": "Encoder-decoders score a sentence by the sum of its tokens' log-likelihoods under the decoder, "
    "from left to right; the encoder was given the text {text}{whom}.",
    "decoder of masks": "Encoder-decoders score a sentence by a pseudo-log-likelihood: each token is masked alone in what the "
    "encoder reads, and predicted by the decoder{whom}.",
    "shared tokens": "The measure of CrowS-Pairs {cite}, over the tokens that both sentences share, stands beside.",
    "score": "What is shown is {score}.",
    "cited score": "What is shown is {score} {cite}.",
    "alpha": "Its exponent is α = {alpha}.",
    "unigrams": "Its unigram probabilities are those of {corpus}.",
    "subset": "Only {subset} are counted.",
    "subset drawn": "Only {subset}, are counted (seed {seed}).",
    "region": "A score counts {region} alone.",
    "intervals over clusters": "Pairs of one value of {column} are taken as a cluster {miller}: from five "
    "clusters on, intervals of accuracies are those of Korn and Graubard at 95% {korn}, "
    "and two models are compared by Student's paired test over the clusters, corrected by "
    "Holm's method {holm}.",
    "share intervals": "Intervals of shares are Wilson's at 95% {wilson}; a share is held against one half by the sign test, "
    "ties aside, and two models are compared by McNemar's exact test {mcnemar}, corrected by Holm's method {holm}.",
    "pair intervals": "Intervals of accuracies are Wilson's at 95% {wilson}; two models are compared by McNemar's "
    "exact "
    "test {mcnemar}, corrected by Holm's method {holm}.",
}

WORDS: Mapping[str, Mapping[str, str]] = {
    "items": {
        "sentences": "labelled sentences",
        "masked": "masked sentences",
        "pairs": "sentence pairs",
        "minimal": "minimal pairs",
        "stereotypes": "pairs of sentences",
        "judged": "judged sentences",
        "conditions": "sentences in conditions",
        "reading": "texts with reading times",
        "acquisition": "words in contexts",
        "texts": "documents",
    },
    "penalty": {"none": "without", "reading": "by readings", "names": "names by reading"},
    "score": {"f1": "F1", "precision": "precision", "recall": "recall"},
}


def listed(items: Sequence[str]) -> str:
    """Items as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
