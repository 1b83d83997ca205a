"""Predict the missing words of a short text with a denoising autoencoder (mSDA).

python examples/denoise.py
"""

import textkin as tk

DOCUMENTS = [
    "doctor patient hospital nurse",
    "doctor nurse hospital",
    "patient hospital surgery doctor",
    "nurse patient surgery",
    "pilot plane airport crew",
    "plane airport runway",
    "pilot crew plane",
    "airport runway crew pilot",
]

counter = tk.BagOfWords()
weigh = tk.TfIdf(idf="one")  # counts of unit length, so that tanh is not saturated
bags = weigh.fit_transform(counter.fit_transform(DOCUMENTS))

msda = tk.MSDA(noise=0.5, n_layers=1, include_input=False).fit(bags)
words = counter.vocabulary_.words
for text in ("nurse", "runway"):
    [predicted] = msda.transform(weigh.transform(counter.transform([text])))
    best = predicted.argsort()[::-1][:5]
    print(f"{text}: {', '.join(f'{words[w]} {predicted[w]:.2f}' for w in best)}")

texts = ["nurse", "surgery", "runway"]
query = weigh.transform(counter.transform(texts))
print("\nCosine of 'nurse' with 'surgery' and 'runway', which share no word with it:")
print("  words:", tk.pairwise_similarities(query)[0, 1:].round(2))
print("  MSDA: ", tk.pairwise_similarities(msda.transform(query))[0, 1:].round(2))
