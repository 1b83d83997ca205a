"""Choose stop lists, stems, and lemmas."""

from textkin.text import (
    Lemmatizer,
    Stemmer,
    WordNetLemmas,
    remove_stop_words,
    stop_list,
    stop_lists,
    stop_word_set,
    tokenize,
)

TEXT = "The mice weren't thinking of cheeses, but their thinkings were happier than a mouse's"

print("stop lists:", ", ".join(f"{each.pinned} ({len(each)})" for each in stop_lists()))
words = tokenize(TEXT)
for name in ("lucene", "glasgow", "smart"):
    print(f"{name:8}", *remove_stop_words(words, stop_word_set(name)))

# Derive your own list from another one; "smart:1" never changes.
own = [word for word in stop_list("smart:1") if "n't" not in word]
left = remove_stop_words(words, stop_word_set(own))
print("own     ", *left)

# The stemmer and the lemmatizer need extras: pip install 'textkin[stem,lemma]'
for make in (WordNetLemmas, Stemmer, Lemmatizer):
    try:
        normalise = make()
    except ImportError as error:
        print(f"({error})")
    else:
        print(f"{normalise}:", *(normalise(word) for word in left))

# Why `thinkings` becomes `think`: the most frequent lemma of the lemma, by WordNet's counts.
lemma = WordNetLemmas()
print("thinkings ->", lemma.candidates("thinkings"), "->", lemma.candidates("thinking"))
