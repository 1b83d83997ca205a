// Map of many points on a canvas: a layer of points drawn as pixels, and a layer of marks above it.
// A frame of points is one pass over typed arrays; hovering redraws only the marks. If a
// high-resolution screen has too many pixels to draw in time, points are drawn coarser while the
// map moves.

import { debounced } from "./dom.js";
import { Camera } from "./map_camera.js";
import { listen } from "./map_gestures.js";
import { placeLabels } from "./map_labels.js";
import { bounds } from "./map_points.js";
import { SHAPES, packed, press, stampsOf } from "./map_stamps.js";

export const COLOURS = 8;

// maximum device pixels per pixel: four times the work shows no difference
const MOST_PIXELS_A_PIXEL = 2;
// milliseconds of the 16 per frame for the points, which leaves time for the rest
const IN_TIME = 8;
const REST = 140; // milliseconds without a move after which a map is still
const REACH = 14; // maximum distance between point and pointer, in pixels
const AWAY = 0;
const PLAIN = 1;
const FOUND = 2;
const CHOSEN = 3;

export class MapCanvas {
  /**
   * host: an element with a size. above: elements on top of the map.
   * on: {hover(i or -1), choose([i], add), focus(i), moved()}.
   */
  constructor(host, above, on) {
    this.host = host;
    this.above = above;
    this.on = on;
    this.back = host.appendChild(document.createElement("canvas"));
    this.front = host.appendChild(document.createElement("canvas"));
    this.back.className = "map-points";
    this.front.className = "map-marks";
    this.back.setAttribute("aria-hidden", "true");
    this.probe = host.appendChild(document.createElement("span"));
    this.probe.hidden = true;
    this.points = null;
    this.labels = [];
    this.hovered = -1;
    this.focused = -1;
    this.box = null;
    this.moving = false;
    // true if the last full-resolution frame exceeded the time limit of a moving map
    this.behind = false;
    this.rest = debounced(() => this.#still(), REST);
    this.size = new ResizeObserver(() => this.#resize());
    this.theme = matchMedia("(prefers-color-scheme: dark)");
    this.themed = () => this.refreshColors();
    this.theme.addEventListener("change", this.themed);
    listen(this.front, this);
  }

  /** Show points in groups: `group` has a group per point, or -1; `looks` has a {color, shape} per group. */
  show(points, group, looks, labels) {
    const first = this.points !== points;
    this.points = points;
    this.group = group;
    this.looks = looks;
    this.labels = labels;
    if (first) {
      this.shown = new Uint8Array(points.count).fill(1);
      this.found = null;
      this.chosen = new Set();
      this.hovered = this.focused = -1;
      this.camera = new Camera(points.box, () => {
        this.moving = true;
        this.rest();
        this.redraw();
        this.on.moved();
      });
      this.size.observe(this.host);
      this.#resize();
    }
    this.#rank();
    this.refreshColors();
  }

  /** Move other points to the background: a 1 for each point that is shown. */
  filter(shown) {
    this.shown = shown;
    this.#rank();
    if (this.hovered >= 0 && !this.active[this.hovered]) this.hover(-1);
    this.redraw();
  }

  /** Highlight some points; null: no search. */
  highlight(found) {
    this.found = found;
    this.#rank();
    this.redraw();
  }

  choose(points) {
    this.chosen = new Set(points);
    this.#rank();
    this.redraw();
  }

  hover(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    this.on.hover(i);
    this.redrawMarks();
  }

  /** Focus a point by keys, and scroll it into view. */
  focus(i) {
    this.focused = i;
    const [x, y] = [this.points.x[i], this.points.y[i]];
    const [px, py] = this.camera.toScreen(x, y);
    const { width, height } = this.camera;
    if (px < REACH || py < REACH || px > width - REACH || py > height - REACH) {
      this.camera.glide(x, y, this.camera.zoom);
    }
    this.on.focus(i);
    this.redrawMarks();
  }

  /** Move to the area of some points. */
  visit(members) {
    if (members.length) this.camera.glide(...this.camera.around(bounds(this.points.x, this.points.y, members)));
  }

  reset() {
    const { left, right, top, bottom } = this.points.box;
    this.camera.glide((left + right) / 2, (top + bottom) / 2, 1);
  }

  /** Return the point at a screen position, or -1. */
  at(px, py) {
    const { camera } = this;
    const [x, y] = camera.toMap(px, py);
    return this.points.nearest(x, y, REACH / camera.scaleX, REACH / camera.scaleY, this.active);
  }

  /** Return the points between two screen positions. */
  between(px0, py0, px1, py1) {
    const [from, to] = [this.camera.toMap(px0, py0), this.camera.toMap(px1, py1)];
    return this.points.inside(...from, ...to, this.active);
  }

  drawBox(box) {
    this.box = box;
    this.redrawMarks();
  }

  radius() {
    const alone = Math.min(5.5, Math.max(1.8, 13 * this.points.count ** -0.2));
    return Math.min(8, alone * this.camera.zoom ** 0.3);
  }

  remove() {
    this.size.disconnect();
    this.theme.removeEventListener("change", this.themed);
    this.camera?.stop();
    this.rest.cancel();
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.markFrame);
  }

  refreshColors() {
    const read = (name) => {
      this.probe.style.color = `var(--${name})`;
      return getComputedStyle(this.probe).color;
    };
    this.probe.hidden = false;
    this.colors = { ground: read("map-ground"), ink: read("map-ink"), paper: read("map-halo") };
    this.colors.groups = Array.from({ length: COLOURS }, (_, at) => read(`group-${at}`));
    this.colors.rest = read("map-rest");
    this.colors.away = read("map-away");
    this.probe.hidden = true;
    this.ground = packed(this.colors.ground);
    this.inks = [...this.colors.groups, this.colors.rest].map(packed);
    this.redraw();
  }

  // Background points first, then plain points, and found or chosen points on top.
  #rank() {
    const { points, group, looks, shown, found, chosen } = this;
    const ranks = new Uint8Array(points.count);
    const levels = new Uint32Array(6);
    for (let i = 0; i < points.count; i++) {
      const plain = found && !found[i] ? AWAY : found ? FOUND : PLAIN;
      ranks[i] = chosen.has(i) ? CHOSEN : shown[i] ? plain : AWAY;
    }
    // Among plain points, gray is below color.
    const level = (i) => {
      if (ranks[i] !== PLAIN) return ranks[i] > PLAIN ? ranks[i] + 1 : ranks[i];
      return lookOf(looks, group[i]).color < COLOURS ? PLAIN + 1 : PLAIN;
    };
    for (let i = 0; i < points.count; i++) levels[level(i) + 1]++;
    for (let at = 1; at < levels.length; at++) levels[at] += levels[at - 1];
    // Points that can be selected: shown, and among the search results if there is a search.
    this.active = shown.map((is, i) => (is && (!found || found[i]) ? 1 : 0));
    this.order = new Uint32Array(points.count);
    for (let i = 0; i < points.count; i++) this.order[levels[level(i)]++] = i;
    this.ranks = ranks;
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!this.points || !width || !height) return;
    this.sharp = Math.min(devicePixelRatio || 1, MOST_PIXELS_A_PIXEL);
    this.front.width = Math.round(width * this.sharp);
    this.front.height = Math.round(height * this.sharp);
    this.images = new Map(); // by device pixels per page pixel
    this.fine = 0;
    this.camera.resize(width, height);
    this.covered = this.above.map(({ offsetLeft: left, offsetTop: top, offsetWidth: wide, offsetHeight: high }) =>
      ({ left, top, right: left + wide, bottom: top + high }));
    this.redraw();
  }

  // Pixels for drawing the points: `fine` per page pixel, along each axis.
  #canvasOf(fine) {
    if (fine === this.fine) return;
    const { width, height } = this.camera;
    this.fine = fine;
    this.back.width = Math.round(width * fine);
    this.back.height = Math.round(height * fine);
    if (!this.images.has(fine)) {
      this.images.set(fine, new ImageData(this.back.width, this.back.height));
    }
    this.image = this.images.get(fine);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  #still() {
    this.moving = false;
    if (this.fine !== this.sharp) this.redraw();
  }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  redrawMarks() {
    cancelAnimationFrame(this.markFrame);
    this.markFrame = requestAnimationFrame(() => this.#drawMarks());
  }

  /** Draw both layers immediately. */
  draw() {
    if (!this.images) return;
    const began = performance.now();
    this.#canvasOf(this.moving && this.behind ? Math.min(1, this.sharp) : this.sharp);
    this.#drawPoints();
    if (this.fine === this.sharp) this.behind = performance.now() - began > IN_TIME;
    this.#drawMarks();
  }

  #drawPoints() {
    const { pixels, points, camera, order, ranks, group, looks, inks, fine } = this;
    const { width, height } = this.back;
    pixels.fill(this.ground);
    const [left, top] = camera.toScreen(0, 0);
    const [x0, y0] = [left * fine, top * fine];
    const [ax, ay] = [camera.scaleX * fine, -camera.scaleY * fine];
    const radius = this.radius() * fine;
    const stamps = [AWAY, PLAIN, FOUND, CHOSEN].map((rank) =>
      SHAPES.map((_, shape) => stampsOf(shape, rank === AWAY ? radius * 0.8 : rank === PLAIN ? radius : radius * 1.35)),
    );
    const rings = SHAPES.map((_, shape) => stampsOf(shape, radius * 1.35 + 1.6 * fine));
    const ink = packed(this.colors.ink);
    const away = packed(this.colors.away);
    const margin = 20 * fine;
    const alpha = points.count > 2000 ? 190 : 225;
    for (let at = 0; at < order.length; at++) {
      const i = order[at];
      const px = x0 + points.x[i] * ax;
      const py = y0 + points.y[i] * ay;
      if (px < -margin || py < -margin || px > width + margin || py > height + margin) continue;
      const rank = ranks[i];
      const look = lookOf(looks, group[i]);
      if (rank === CHOSEN) press(pixels, width, height, rings[look.shape], px, py, ink, 256);
      const color = rank === AWAY ? away : inks[look.color];
      press(pixels, width, height, stamps[rank][look.shape], px, py, color, rank > PLAIN ? 256 : alpha);
    }
    this.back.getContext("2d", { alpha: false }).putImageData(this.image, 0, 0);
  }

  #drawMarks() {
    if (!this.images) return;
    const { camera, points, sharp } = this;
    const context = this.front.getContext("2d");
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const { colors, covered } = this;
    placeLabels(context, camera, this.labels, { colors, covered, family: getComputedStyle(this.host).fontFamily });
    const around = (i, wide) => {
      const [px, py] = camera.toScreen(points.x[i], points.y[i]);
      for (const [line, color] of [[wide + 2, this.colors.paper], [wide, this.colors.ink]]) {
        context.beginPath();
        context.arc(px, py, this.radius() + 4, 0, 2 * Math.PI);
        context.lineWidth = line;
        context.strokeStyle = color;
        context.stroke();
      }
    };
    if (this.focused >= 0 && document.activeElement === this.front) around(this.focused, 2.5);
    if (this.hovered >= 0) around(this.hovered, 1.5);
    if (this.box) {
      const [x0, y0, x1, y1] = this.box;
      context.setLineDash([5, 4]);
      context.lineWidth = 1.5;
      context.strokeStyle = this.colors.ink;
      context.strokeRect(x0, y0, x1 - x0, y1 - y0);
      context.setLineDash([]);
    }
  }
}

const NONE = { color: COLOURS, shape: 0 };

function lookOf(looks, group) {
  return group < 0 ? NONE : looks[group];
}
