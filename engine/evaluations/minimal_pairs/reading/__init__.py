"""Reading times of words: the surprisal of each word, and what it explains of them."""
