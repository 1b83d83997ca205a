"""Parts of the map's drawing code, compared with reference implementations, in a browser."""

import pytest

pytest_plugins = ["web.page_fixtures"]
pytestmark = pytest.mark.slow  # the browser takes much CPU time

NEAREST = """async () => {
    const { Points } = await import("/static/map_points.js");
    let seed = 7;
    const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
    const x = Array.from({ length: 700 }, () => random() ** 2);
    const y = Array.from({ length: 700 }, () => 3 * random());
    const points = new Points(x, y);
    const allowed = Uint8Array.from(x, () => (random() < 0.7 ? 1 : 0));
    const far = (i, px, py, rx, ry) =>
        ((points.x[i] - px) / rx) ** 2 + ((points.y[i] - py) / ry) ** 2;
    const wrong = [];
    for (let turn = 0; turn < 300; turn++) {
        const [px, py] = [random() * 1.2 - 0.1, random() * 3.4 - 0.2];
        const [rx, ry] = [0.01 + 0.2 * random(), 0.01 + 0.5 * random()];
        const ways = x.map((_, i) => (allowed[i] ? far(i, px, py, rx, ry) : Infinity));
        const least = Math.min(...ways);
        const found = points.nearest(px, py, rx, ry, allowed);
        if (least <= 1 ? ways[found] !== least : found !== -1) wrong.push(["nearest", turn]);
        const [qx, qy] = [random(), 3 * random()];
        const [left, right] = [Math.min(px, qx), Math.max(px, qx)];
        const [top, bottom] = [Math.min(py, qy), Math.max(py, qy)];
        const inside = x.map((_, i) => i).filter((i) => allowed[i]
            && points.x[i] >= left && points.x[i] <= right
            && points.y[i] >= top && points.y[i] <= bottom);
        const got = points.inside(px, py, qx, qy, allowed);
        if (String(inside) !== String(got)) wrong.push(["inside", turn]);
    }
    return wrong;
}"""

BLENDED = """async () => {
    const { SHAPES, packed, press, stampsOf } = await import("/static/map_stamps.js");
    const ground = [250, 240, 230];
    const color = [0, 114, 178];
    const pixels = new Uint32Array(40 * 40).fill(packed(`rgb(${ground})`));
    let most = 0;
    const before = pixels.slice();
    for (let shape = 0; shape < SHAPES.length; shape++) {
        pixels.set(before);
        const stamps = stampsOf(shape, 4);
        press(pixels, 40, 40, stamps, 20, 20, packed(`rgb(${color})`), 200);
        const { reach, size, cover } = stamps.places[0];
        for (let at = 0; at < size * size; at++) {
            const to = (20 - reach + Math.floor(at / size)) * 40 + 20 - reach + (at % size);
            const part = (cover[at] / 255) * (200 / 256);
            ground.forEach((value, channel) => {
                const wanted = value + (color[channel] - value) * part;
                most = Math.max(most, Math.abs(((pixels[to] >>> (8 * channel)) & 255) - wanted));
            });
        }
    }
    for (const [x, y] of [[0, 0], [39.9, 39.9], [-3, 20], [20, 43], [-100, 5], [5, 1e6]]) {
        press(pixels, 40, 40, stampsOf(0, 4), x, y, packed("#000000"), 256); // cut off at edges
    }
    return most;
}"""

# Shapes as inequalities, sampled 256 times per pixel; and the coverage of the stamps.
COVERED = """async () => {
    const { press, stampsOf } = await import("/static/map_stamps.js");
    const inside = [
        (x, y) => x * x + y * y <= 1,
        (x, y) => Math.max(Math.abs(x), Math.abs(y)) <= 0.886,
        (x, y) => y <= 0.78 && Math.abs(x) <= ((y + 1.24) / 2.02) * 1.5,
        (x, y) => Math.abs(x) + Math.abs(y) <= 1.253,
    ];
    const found = [];
    for (let shape = 0; shape < inside.length; shape++) {
        for (const radius of [1.75, 4, 9.5]) {
            const pixels = new Uint32Array(40 * 40).fill(0xff000000);
            press(pixels, 40, 40, stampsOf(shape, radius), 20.25, 20.5, 0xffffffff, 256);
            let [most, area, all] = [0, 0, 0];
            pixels.forEach((pixel, at) => {
                let hits = 0;
                for (let look = 0; look < 256; look++) {
                    const x = (at % 40) - 20.25 + ((look % 16) + 0.5) / 16 - 0.5;
                    const y = Math.floor(at / 40) - 20.5 + (Math.floor(look / 16) + 0.5) / 16 - 0.5;
                    if (inside[shape](x / radius, y / radius)) hits++;
                }
                most = Math.max(most, Math.abs((pixel & 255) / 255 - hits / 256));
                area += (pixel & 255) / 255;
                all += hits / 256;
            });
            found.push([most, area / all]);
        }
    }
    return found;
}"""

DENSEST = """async ([x, y]) => {
    const { Points } = await import("/static/map_points.js");
    return new Points(x, y).densest(x.map((_, i) => i));
}"""


# Three names at one position, and one below a button; returns the label positions.
LABELLED = """async () => {
    const { placeLabels } = await import("/static/map_labels.js");
    const context = document.createElement("canvas").getContext("2d");
    const found = {};
    context.fillText = (text, left, middle) => { found[text] = middle; };
    const camera = { width: 300, height: 200, toScreen: (x, y) => [x, y] };
    const label = (text, x, y, muted = false) => ({ text, x, y, muted, few: false });
    const labels = [
        label("first", 100, 100), label("second", 100, 100), label("third", 100, 100),
        label("below", 250, 180), label("muted", 10, 10, true), label("away", -5, 10),
    ];
    placeLabels(context, camera, labels, {
        colors: { paper: "#fff", ink: "#000" },
        family: "sans-serif",
        covered: [{ left: 200, top: 150, right: 300, bottom: 200 }],
    });
    return found;
}"""


@pytest.fixture
def page(open_page, site):
    return open_page(f"{site}/compare")


def test_grid_matches_exhaustive_search(page):
    assert page.evaluate(NEAREST) == []


def test_blending_two_channels_at_once_matches_one_by_one(page):
    assert page.evaluate(BLENDED) <= 3


def test_stamps_match_their_shapes(page):
    for most, area in page.evaluate(COVERED):
        assert most <= 0.3  # at corners, which may be slightly rounded or filled
        assert area == pytest.approx(1, abs=0.05)


def test_name_is_near_most_of_its_points(page):
    """The mean of two separate groups would be in the empty space between them."""
    near, far = [0.1, 0.11, 0.12, 0.1, 0.09], [0.9, 0.91]
    x, y = page.evaluate(DENSEST, [near + far, near + far])
    assert x == pytest.approx(sum(near) / len(near), abs=1e-6)
    assert y == pytest.approx(x, abs=1e-6)


def test_names_overlap_neither_each_other_nor_buttons(page):
    found = page.evaluate(LABELLED)
    assert {name: found.pop(name) for name in ("first", "second", "third")} == {
        "first": 100,
        "second": 82,
        "third": 118,
    }
    assert set(found) == {"below"}
    assert found["below"] + 9 <= 150


@pytest.mark.parametrize("x", [[], [0.3], [0.3, 0.3]], ids=["none", "one", "two in one place"])
def test_map_with_few_points_has_a_size(page, x):
    box = page.evaluate(
        """async (x) => {
            const { Points } = await import("/static/map_points.js");
            return new Points(x, x).box;
        }""",
        x,
    )
    assert box["right"] - box["left"] == 1
    assert box["bottom"] - box["top"] == 1
