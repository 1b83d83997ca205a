"""Sort a folder of mails by a few sorted ones, with reasons.

Sorted mails are in folders; new ones are in the inbox. Each new mail goes to the folder of its
nearest sorted mails, and lists them. If these disagree, it stays.

python examples/sort_notes.py
"""

import tempfile
from pathlib import Path

import textkin as tk

SORTED = {
    "bills": [
        "Your electricity bill for March is attached. The amount of 84.20 is due on the 15th.",
        "Reminder: the invoice for your phone contract has not been paid yet.",
        "We have received your payment of the water rates. Thank you.",
        "The insurance premium rises next year; your account will be charged in January.",
    ],
    "travel": [
        "Your flight to Lisbon is confirmed. Check-in opens 24 hours before departure.",
        "The hotel has reserved a double room for three nights, breakfast included.",
        "Your train leaves from platform 4; seats are in coach 12.",
        "Boarding passes for all passengers: the gate closes before take-off.",
    ],
    "family": [
        "Grandma turns eighty in June, and we want to give her a surprise party.",
        "The kids had a lovely weekend at your place. They want to come back for the summer.",
        "Mum asks whether you will bring your brother to dinner on Sunday.",
        "Dad is better, the doctor says; he sends his love to the children.",
    ],
}
INBOX = {
    "0412-energy.txt": "The gas supplier sends the yearly statement; please pay the balance soon.",
    "0413-airline.txt": "The airline has changed the departure of your plane to 9:40.",
    "0414-anna.txt": "Our daughter was born last night! Uncle and aunt are both very proud.",
    "0415-hostel.txt": "Your booking at the hostel is waiting for a deposit.",
    "0416-yes.txt": "Yes, all of us, see you then.",
    "0417-trip.txt": "Shall we take the children along to Lisbon? I would pay for it.",
}


def write_mails(home: Path) -> None:
    """Write the example mails."""
    for name, texts in SORTED.items():
        (home / "sorted" / name).mkdir(parents=True)
        for number, text in enumerate(texts, start=1):
            (home / "sorted" / name / f"{number}.txt").write_text(text + "\n")
    (home / "inbox").mkdir()
    for name, text in INBOX.items():
        (home / "inbox" / name).write_text(text + "\n")


with tempfile.TemporaryDirectory() as name:
    home = Path(name)
    write_mails(home)

    known = list(tk.read(home / "sorted"))
    labels = [document.id.split("/")[0] for document in known]
    new = list(tk.read(home / "inbox"))

    # SIF weights let the rare words of a mail decide, not the polite phrases.
    classifier = tk.NearestNeighborClassifier(tk.WordMover(word_weights="sif"), n_neighbors=3)
    classifier.fit(known, labels)

    for mail, evidence in zip(new, classifier.evidence(new), strict=True):
        print(evidence)
        if not evidence.empty:
            moves = sorted(evidence.explain().moves, key=lambda move: move.cost)[:3]
            alike = ", ".join(f"{move.source} ~ {move.target}" for move in moves)
            print(f"  most similar words: {alike}")
        if evidence.empty or evidence.score < 0.6:
            print("  It stays in the inbox.\n")
            continue
        target = home / "sorted" / evidence.label / mail.id
        (home / "inbox" / mail.id).rename(target)
        print(f"  Moved to {target.relative_to(home)}\n")
