"""The page of words with reading times: what surprisal explains of them."""
