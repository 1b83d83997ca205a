"""Map whose points have known positions; `page_fixtures` opens it."""

from web.page_waiting import asked, eventually

EDGE = 28  # pixels around the points at zoom 1

# Four corners and the center, whose screen positions are known.
FIXED = {
    "representation": "tfidf",
    "state": "fixed",
    "ids": ["low left", "low right", "high left", "high right", "middle"],
    "titles": ["Bottom left", "Bottom right", "Top left", "Top right", "Middle <b>of</b> all"],
    "x": [0, 1, 0, 1, 0.5],
    "y": [0, 0, 1, 1, 0.5],
    "label": [0, 0, 1, 1, -1],
    "labels": ["bottom", "top"],
    "cluster": [0, 1, 0, 1, 0],
    "total": 5,
    "notes": [],
}
CLUSTERS = {
    "representation": "tfidf",
    "state": "fixed",
    "total": 5,
    "notes": [],
    "clusters": [
        {
            "number": number,
            "size": size,
            "words": [{"word": word, "weight": 1.0}],
            "central": {"id": "middle", "start": "Middle"},
            "x": 0.5,
            "y": 0.5,
        }
        for number, size, word in ((0, 3, "western"), (1, 2, "eastern"))
    ],
}


# True if the layer of points has more than its background color.
DRAWN = """() => {
    const canvas = document.querySelector(".map-points");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(data.buffer);
    return pixels.some((pixel) => pixel !== pixels[0]);
}"""


def place(page, x, y):
    """Return the position of a point of the fixed map in the window at zoom 1."""
    box = page.locator(".map-marks").bounding_box()
    wide, high = box["width"] - 2 * EDGE, box["height"] - 2 * EDGE
    return box["x"] + EDGE + x * wide, box["y"] + EDGE + (1 - y) * high


def color_at(page, x, y):
    """Return the color of the point layer at a position, and the value of a custom property."""
    return page.evaluate(
        """([x, y]) => {
            const canvas = document.querySelector(".map-points");
            const box = canvas.getBoundingClientRect();
            const sharp = canvas.width / box.width;
            const at = [(x - box.left) * sharp, (y - box.top) * sharp].map(Math.round);
            return [...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3);
        }""",
        [x, y],
    )


def has_color(page, where, hexadecimal, away=40):
    """Wait until a position has approximately a color."""
    wanted = [int(hexadecimal[at : at + 2], 16) for at in (1, 3, 5)]
    eventually(
        page,
        lambda: all(
            abs(a - b) <= away for a, b in zip(color_at(page, *where), wanted, strict=True)
        ),
    )


def zoom_of(page):
    """Return the zoom in the URL."""
    return float(asked(page)["at"][0].split(",")[2]) if "at" in asked(page) else 1.0


def shown(page, name):
    return page.locator(".legend-entry", has_text=name)
