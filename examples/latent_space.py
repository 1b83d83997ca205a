"""Place documents and words in the space of LSI, and mix documents from LDA's topics.

python examples/latent_space.py
"""

import textkin as tk

DOCUMENTS = [
    "the doctor treats the patient in the hospital",
    "a physician and a nurse treat patients",
    "the nurse helps the doctor at the hospital",
    "the physician sees a patient at the clinic",
    "the pilot lands the plane at the airport",
    "a plane takes off from the airport with its crew",
    "the crew and the pilot board the aircraft",
    "an aircraft needs a runway at the airport",
]

counter = tk.BagOfWords()
bags = counter.fit_transform(DOCUMENTS)

lsi = tk.LSI(2, random_state=0).fit(bags)
query = counter.transform(["doctor"])
near = tk.pairwise_similarities(lsi.transform(query), lsi.transform(bags))[0]
print("Nearest to 'doctor' by LSI, with or without the word:")
for position in near.argsort()[::-1][:4]:
    print(f"  {near[position]:.2f}  {DOCUMENTS[position]}")

vectors = lsi.word_vectors(counter.vocabulary_)
print("\nWords near 'pilot':", ", ".join(word for word, _ in vectors.nearest("pilot", 3)))

lda = tk.LDA(2, random_state=0).fit(bags)
print("\nTopics by LDA:")
for topic in lda.topic_words_:
    print(" ", ", ".join(counter.vocabulary_.words[w] for w in topic.argsort()[::-1][:5]))
shares = lda.transform(bags)
apart = tk.pairwise_distances(shares, metric="hellinger")
print(f"\nHellinger distance of the first document to the second {apart[0, 1]:.2f}, ", end="")
print(f"to the last {apart[0, -1]:.2f}")
