"""Running text: perplexity and bits, for each document and over all of them."""
