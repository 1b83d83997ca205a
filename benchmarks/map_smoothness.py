"""Smoothness of the page's map with 20,000 points: frames of a browser during interaction.

A small server serves the page of the installed textkin and generated positions of documents; a real
Chromium pans, zooms, hovers, and filters. For each action, the script measures the time between
frames, and the script time of a frame (a 60 Hz screen allows 16.7 ms in total). Run in the
repository root, with textkin and Playwright installed::

    python benchmarks/map_smoothness.py
"""

import argparse
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import numpy as np
from environment import RESULTS, describe, write

RESULT = RESULTS / "map_smoothness.json"
POINTS = 20_000
GROUPS = 14
SCREENS = {"1280 x 800": (1280, 800, 1), "1280 x 800, twice as sharp": (1280, 800, 2)}
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

# Records the duration of every animation frame callback, and the times between frames.
RECORDER = """
(() => {
  const ask = window.requestAnimationFrame.bind(window);
  let scripts = 0;
  window.frames_seen = [];
  window.requestAnimationFrame = (call) => ask((now) => {
    const began = performance.now();
    call(now);
    scripts += performance.now() - began;
  });
  let before = 0;
  const beat = (now) => {
    if (before) window.frames_seen.push([now - before, scripts]);
    before = now;
    scripts = 0;
    ask(beat);
  };
  ask(beat);
})();
"""


def made_up(n: int) -> dict[str, dict[str, Any]]:
    """Return the API responses that a map of `n` documents needs, by path."""
    rng = np.random.default_rng(0)
    group = rng.choice(GROUPS, size=n, p=np.arange(GROUPS, 0, -1) / (GROUPS * (GROUPS + 1) / 2))
    middles, widths = rng.random((GROUPS, 2)), 0.02 + 0.06 * rng.random((GROUPS, 1))
    places = middles[group] + rng.normal(size=(n, 2)) * widths[group]
    places = (places - places.min(axis=0)) / np.ptp(places, axis=0)
    names = [f"group {at}" for at in range(GROUPS)]
    ranking = {"name": "tfidf", "title": "Words", "kind": "words", "ascending": False}
    return {
        "/api/stats": {
            "title": "made up",
            "documents": n,
            "rankings": [],
            "representations": [ranking],
            "limits": {"k": 200},
        },
        "/api/map": {
            "ids": [f"d{at}" for at in range(n)],
            "titles": [f"Document {at}" for at in range(n)],
            "x": places[:, 0].round(5).tolist(),
            "y": places[:, 1].round(5).tolist(),
            "label": group.tolist(),
            "labels": names,
            "cluster": (group % 8).tolist(),
            "notes": [],
        },
        "/api/clusters": {"clusters": [], "notes": []},
    }


@contextmanager
def served(answers: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Serve the page and these responses on a free port of this machine; yield the address."""
    page = Path(str(files("textkin") / "web" / "page"))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlparse(self.path).path
            if path in answers:
                kind, body = "application/json", json.dumps(answers[path]).encode()
            else:
                inside = path.removeprefix("/static/") if path.startswith("/static/") else ""
                file = page / (inside or "index.html")
                kind, body = TYPES.get(file.suffix, "text/plain"), file.read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def pan(page: Any, x: float, y: float, steps: int) -> None:
    """Drag the map back and forth."""
    page.mouse.move(x, y)
    page.mouse.down()
    for way in (1, -1):
        page.mouse.move(x + way * 150, y + way * 80, steps=steps)
    page.mouse.up()


def zoom(page: Any, x: float, y: float, steps: int) -> None:
    """Zoom in and out with the wheel."""
    page.mouse.move(x, y)
    for turn in [-60] * steps + [60] * steps:
        page.mouse.wheel(0, turn)


def hover(page: Any, x: float, y: float, steps: int) -> None:
    """Move over the points."""
    page.mouse.move(x - 200, y - 100)
    page.mouse.move(x + 200, y + 100, steps=2 * steps)


def pick(page: Any, x: float, y: float, steps: int) -> None:
    """Show only some groups, then all again."""
    for at in range(min(steps, 12)):
        page.click(f".legend li:nth-child({at + 1}) button")
    page.click("text=Clear filter")


ACTIONS: dict[str, Callable[[Any, float, float, int], None]] = {
    "pan": pan,
    "zoom": zoom,
    "hover": hover,
    "filter": pick,
}


def measured(page: Any, act: Callable[[Any, float, float, int], None], steps: int) -> dict:
    """Run an action on the map, and return the durations of its frames in milliseconds."""
    box = page.locator(".map-stage").bounding_box()
    page.evaluate("frames_seen.length = 0")
    act(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps)
    page.wait_for_timeout(100)
    seen = np.array(page.evaluate("frames_seen"))
    busy = seen[seen[:, 1] > 0.05]  # frames in which anything was drawn
    return {
        "frames": len(seen),
        "between_frames": quantiles(seen[:, 0]),
        "drawn_frames": len(busy),
        "scripts_of_a_drawn_frame": quantiles(busy[:, 1]),
    }


def quantiles(times: np.ndarray) -> dict[str, float]:
    """Return the median, the 95th percentile, and the maximum."""
    if len(times) == 0:
        return {}
    found = np.quantile(times, [0.5, 0.95, 1.0])
    return dict(zip(("median", "p95", "most"), found.round(2).tolist(), strict=True))


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--steps", type=int, default=60, help="movements per action")
    parser.add_argument("--out", type=Path, default=RESULT)
    asked = parser.parse_args()
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser_path is None:
        raise SystemExit("Chromium was not found; install it (Debian: apt install chromium).")
    from playwright.sync_api import sync_playwright

    screens: dict[str, dict[str, Any]] = {}
    with served(made_up(asked.points)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, (width, height, sharp) in SCREENS.items():
            context = browser.new_context(
                viewport={"width": width, "height": height}, device_scale_factor=sharp
            )
            context.add_init_script(RECORDER)
            page = context.new_page()
            page.goto(f"{address}/map")
            page.wait_for_selector(".legend")
            page.wait_for_timeout(500)
            screens[name] = {act: measured(page, ACTIONS[act], asked.steps) for act in ACTIONS}
            context.close()
        version = browser.version
        browser.close()
    for name, acts in screens.items():
        print(f"{asked.points:,} points, {name}")
        for act, found in acts.items():
            frames, scripts = found["between_frames"], found["scripts_of_a_drawn_frame"]
            print(
                f"  {act:<7} {found['frames']:4} frames, "
                f"every {frames['median']:.1f} ms (p95 {frames['p95']:.1f}, most "
                f"{frames['most']:.1f}); scripts {scripts.get('median', 0):.1f} ms "
                f"(p95 {scripts.get('p95', 0):.1f})"
            )
    write(
        asked.out,
        {**describe("playwright"), "chromium": version, "points": asked.points, "screens": screens},
    )


if __name__ == "__main__":
    main()
