"""Find the repeated questions in a list: the same in other words, too.

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

# The same words in the same order, whatever stands between them: no measure, no threshold.
same = tk.find_duplicates(QUESTIONS, by="text")
print(same)

# Near by what their words mean; unit vectors make thresholds easy to choose.
near = tk.find_duplicates(QUESTIONS, 0.7, by=tk.WordMover(unit=True, masses="sif"))
print()
print(near)

print("\nWhy two of them are near:")
group = near[-1]
print(group.explain(group[1]))

print("\nThe list without its repetitions:")
for at in near.kept:
    print(f"  {QUESTIONS[at]}")
