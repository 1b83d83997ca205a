"""Compare two texts: the distance, its flow, its bounds, and its proof."""

import textkin as tk

mover = tk.WordMover()
found = mover.explain(
    "Obama speaks to the media in Illinois",
    "The President greets the press in Chicago",
)

print(f"distance {found.distance:.4f}")
for move in found.moves:
    share = found.flow.share(move)
    print(f"  {move.source:>10} -> {move.target:<10} adds {move.contribution:.4f} ({share:.0%})")

bounds = found.bounds
print(f"bounds: centroid {bounds.centroid:.4f}, relaxed {bounds.relaxed:.4f}")

verification = found.verify()  # checked in float64 without the solver; raises if it fails
print(f"proven to within {verification.gap:.1e}")

# Words without a vector are ignored; coverage lists them.
[coverage] = mover.coverage(["The President greets Zaphod Beeblebrox"])
print(f"coverage {coverage.share:.0%}, unknown: {sorted(coverage.unknown)}")
