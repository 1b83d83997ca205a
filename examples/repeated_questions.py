"""Find repeated questions in a list, also in other words.

python examples/repeated_questions.py
"""

import textkin as tk

QUESTIONS = [
    "How do I reset my password?",
    "Where can I download my invoice?",
    "how do i reset my password",
    "I forgot my password, how can I reset it?",
    "Can I change the delivery address of my order?",
    "My password does not work any more. How do I reset it?",
    "Is it possible to change the shipping address of an order?",
    "Do you ship to Canada?",
    "Where do I find the invoice for my order, to download it?",
    "What is your return policy?",
    "Do you deliver to Canada?",
    "Which payment methods do you accept?",
]

# The same words in the same order, regardless of punctuation: no radius.
same = tk.find_duplicates(QUESTIONS, metric="text")
print(same)

# Similar by the meaning of their words; unit vectors make radii easy to choose.
near = tk.find_duplicates(QUESTIONS, 0.7, metric=tk.WordMover(unit=True, word_weights="sif"))
print()
print(near)

print("\nWhy two of them are similar:")
group = near[-1]
print(group.explain(group[1]))

print("\nThe list without repetitions:")
for at in near.kept:
    print(f"  {QUESTIONS[at]}")
