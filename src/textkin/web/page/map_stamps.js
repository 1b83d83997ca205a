// Images of a point, as pixel coverage, and blending them into the pixels of a canvas.

export const SHAPES = ["circle", "square", "triangle", "diamond"];

const STEPS = 4; // positions of a point between two pixels, along each axis

// Depth of a position within a shape of a radius, negative outside. All shapes have about the area
// of the circle, so that no group looks heavier.
const DEPTHS = [
  (x, y, radius) => radius - Math.hypot(x, y),
  (x, y, radius) => 0.886 * radius - Math.max(Math.abs(x), Math.abs(y)),
  (x, y, radius) => Math.min(0.78 * radius - y, 0.803 * (0.743 * (y + 1.24 * radius) - Math.abs(x))),
  (x, y, radius) => (1.253 * radius - Math.abs(x) - Math.abs(y)) * Math.SQRT1_2,
];

// A pixel is covered according to the distance of its center from the edge. Each row has the
// columns from `first` to `last` that are covered at all: most of the square around a shape is
// empty.
function stamp(shape, radius, offsetX, offsetY) {
  const reach = Math.ceil(radius * 1.3) + 1;
  const size = 2 * reach + 1;
  const cover = new Uint8Array(size * size);
  const first = new Uint8Array(size).fill(size);
  const last = new Uint8Array(size);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const depth = DEPTHS[shape](column - reach - offsetX, row - reach - offsetY, radius);
      const covered = Math.round(255 * Math.min(1, Math.max(0, depth + 0.5)));
      if (covered === 0) continue;
      cover[row * size + column] = covered;
      if (first[row] === size) first[row] = column;
      last[row] = column + 1;
    }
  }
  return { reach, size, cover, first, last };
}

const kept = new Map();

/** Return the stamps of a shape for a radius in pixels, one per position between pixels, created on demand. */
export function stampsOf(shape, radius) {
  const quarter = Math.max(2, Math.round(radius * 4));
  const key = shape * 1000 + quarter;
  if (!kept.has(key)) kept.set(key, { shape, radius: quarter / 4, places: new Array(STEPS * STEPS).fill(null) });
  return kept.get(key);
}

function at(stamps, column, row) {
  const { shape, radius, places } = stamps;
  return (places[row * STEPS + column] ??= stamp(shape, radius, column / STEPS, row / STEPS));
}

/**
 * Blend a stamp into pixels (opaque, one number each) at a position; color has the same format.
 * Red with blue, and green, are mixed as two numbers: mixing three would take half as much time again.
 */
export function press(pixels, width, height, stamps, px, py, color, alpha) {
  const left = Math.floor(px);
  const top = Math.floor(py);
  const { reach, size, cover, first, last } = at(stamps, Math.floor((px - left) * STEPS), Math.floor((py - top) * STEPS));
  if (left < -reach || top < -reach || left >= width + reach || top >= height + reach) return;
  const redBlue = color & 0xff00ff;
  const green = color & 0x00ff00;
  const firstColumn = Math.max(0, reach - left);
  const lastColumn = Math.min(size, width - left + reach);
  const lastRow = Math.min(size, height - top + reach);
  for (let row = Math.max(0, reach - top); row < lastRow; row++) {
    const begin = Math.max(firstColumn, first[row]);
    const end = Math.min(lastColumn, last[row]);
    let to = (top - reach + row) * width + left - reach + begin;
    for (let from = row * size + begin; from < row * size + end; from++, to++) {
      const part = (cover[from] * alpha) >> 8;
      const below = pixels[to];
      const rb = below & 0xff00ff;
      const g = below & 0x00ff00;
      pixels[to] =
        0xff000000 |
        ((rb + (((redBlue - rb) * part) >> 8)) & 0xff00ff) |
        ((g + (((green - g) * part) >> 8)) & 0x00ff00);
    }
  }
}

/** Return "rgb(1, 2, 3)" or "#010203" as a number in the memory format of a canvas. */
export function packed(css) {
  const hex = /^#([0-9a-f]{6})$/i.exec(css.trim());
  const [r, g, b] = hex
    ? [0, 2, 4].map((at) => parseInt(hex[1].slice(at, at + 2), 16))
    : (css.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}
