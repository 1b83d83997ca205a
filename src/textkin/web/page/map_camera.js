// Visible part of a map: conversion between map and screen coordinates.

import { clamp } from "./map_points.js";

const EDGE = 28; // pixels around all points
const STRETCH = 1.5; // maximum ratio of horizontal to vertical scale for filling the screen
const DEEPEST = 80;
const GLIDE = 220; // milliseconds

export class Camera {
  /** box: visible area at zoom 1. `changed` is called after each move. */
  constructor(box, changed) {
    this.box = box;
    this.changed = changed;
    this.width = 1;
    this.height = 1;
    this.home();
  }

  home() {
    this.zoom = 1;
    this.x = (this.box.left + this.box.right) / 2;
    this.y = (this.box.top + this.box.bottom) / 2;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    const wide = Math.max(40, width - 2 * EDGE) / (this.box.right - this.box.left);
    const high = Math.max(40, height - 2 * EDGE) / (this.box.bottom - this.box.top);
    this.baseX = Math.min(wide, high * STRETCH);
    this.baseY = Math.min(high, wide * STRETCH);
  }

  get scaleX() {
    return this.baseX * this.zoom;
  }

  get scaleY() {
    return this.baseY * this.zoom;
  }

  // The second axis points up on a map, and down on a screen.
  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scaleX, this.height / 2 - (y - this.y) * this.scaleY];
  }

  toMap(px, py) {
    return [this.x + (px - this.width / 2) / this.scaleX, this.y - (py - this.height / 2) / this.scaleY];
  }

  /** Move to a position; the center of the screen stays on the map. */
  look(x, y, zoom) {
    this.zoom = clamp(zoom, 1, DEEPEST);
    this.x = clamp(x, this.box.left, this.box.right);
    this.y = clamp(y, this.box.top, this.box.bottom);
    this.changed();
  }

  pan(dx, dy) {
    this.look(this.x - dx / this.scaleX, this.y + dy / this.scaleY, this.zoom);
  }

  /** Zoom by a factor; the position below a pixel stays there. */
  zoomAt(px, py, factor) {
    const [x, y] = this.toMap(px, py);
    const zoom = clamp(this.zoom * factor, 1, DEEPEST);
    const wide = (px - this.width / 2) / (this.baseX * zoom);
    const high = (py - this.height / 2) / (this.baseY * zoom);
    this.look(x - wide, y + high, zoom);
  }

  /** Return the view in which a rectangle fills the screen. */
  around(box) {
    const wide = (this.width - 2 * EDGE) / ((box.right - box.left) * this.baseX);
    const high = (this.height - 2 * EDGE) / ((box.bottom - box.top) * this.baseY);
    const zoom = clamp(Math.min(wide, high), 1, 16);
    return [(box.left + box.right) / 2, (box.top + box.bottom) / 2, zoom];
  }

  /** Move there smoothly, or at once if the user prefers reduced motion. */
  glide(x, y, zoom) {
    cancelAnimationFrame(this.gliding);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.look(x, y, zoom);
      return;
    }
    const from = [this.x, this.y, Math.log(this.zoom)];
    const to = [x, y, Math.log(clamp(zoom, 1, DEEPEST))];
    const began = performance.now();
    const step = (now) => {
      const part = clamp((now - began) / GLIDE, 0, 1);
      const eased = 1 - (1 - part) ** 3;
      const [cx, cy, depth] = from.map((value, axis) => value + (to[axis] - value) * eased);
      this.look(cx, cy, Math.exp(depth));
      if (part < 1) this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
  }

  stop() {
    cancelAnimationFrame(this.gliding);
  }
}
