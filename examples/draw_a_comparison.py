"""Draw the comparison of two texts as text, as SVG, and as an HTML page."""

import textkin as tk
from textkin.explain import Flow, flow_text

found = tk.compare(
    "The striker scored twice and the fans sang all night",
    "Supporters celebrated after two late goals in the final",
    word_weights="sif",
)

print(found)  # as in a terminal; in a notebook, the object shows its figure
print()
for name, value in found.facts():
    print(f"{name:<9} {value}")

print()
print(found.aligned().to_text())  # both texts, each word with its transport distance

with open("comparison.svg", "w", encoding="utf-8") as file:
    file.write(found.to_svg())
with open("comparison.html", "w", encoding="utf-8") as file:
    file.write(found.to_html())
print("wrote comparison.svg and comparison.html")

# Any flow can be drawn, not only between words: parts that sum to a score.
flow = Flow.of(
    sources=[("savings", 0.7), ("salary", 0.3)],
    targets=[("rent", 0.6), ("food", 0.4)],
    moves=[(0, 0, 0.6, 1.0), (0, 1, 0.1, 2.0), (1, 1, 0.3, 0.5)],
)
print(flow_text(flow))
