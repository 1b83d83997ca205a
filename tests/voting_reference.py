"""Reference implementation of the neighbor votes (METHODS.md, section 4.2)."""

from collections import Counter

import numpy as np


def reference_vote(row, rule, gamma):
    """Return the label that a list of neighbors (label, distance) votes for."""
    if rule == "fall-back":
        k = len(row)
        while True:
            counts = Counter(label for label, _ in row[:k])
            most = max(counts.values())
            if most >= k / 2:
                return min(label for label, count in counts.items() if count == most)
            k -= 2
    votes = Counter()
    for label, distance in row:
        if rule == "majority":
            votes[label] += 1
        elif rule == "exponential":
            votes[label] += np.exp(-distance / gamma)
        elif row[0][1] == 0:
            votes[label] += distance == 0
        else:
            votes[label] += 1 / distance
    return min(label for label, count in votes.items() if count == max(votes.values()))
