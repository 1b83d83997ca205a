// Small pictures of a point, as coverage of pixels, and their blending into the pixels of a canvas.

export const SHAPES = ["circle", "square", "triangle", "diamond"];

const STEPS = 4; // places of a point between two pixels, along each axis
const SAMPLES = 4; // looks into a pixel, along each axis

// All have about the area of the circle of radius 1, so that no group looks heavier.
const COVERS = [
  (x, y) => x * x + y * y <= 1,
  (x, y) => Math.abs(x) <= 0.886 && Math.abs(y) <= 0.886,
  (x, y) => y <= 0.78 && y >= -1.24 && Math.abs(x) <= ((y + 1.24) / 2.02) * 1.5,
  (x, y) => Math.abs(x) + Math.abs(y) <= 1.253,
];

function stamp(shape, radius, offsetX, offsetY) {
  const reach = Math.ceil(radius * 1.3) + 1;
  const size = 2 * reach + 1;
  const cover = new Uint8Array(size * size);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      let hit = 0;
      for (let sample = 0; sample < SAMPLES * SAMPLES; sample++) {
        const x = column - reach - offsetX + ((sample % SAMPLES) + 0.5) / SAMPLES - 0.5;
        const y = row - reach - offsetY + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES - 0.5;
        if (COVERS[shape](x / radius, y / radius)) hit++;
      }
      cover[row * size + column] = Math.round((255 * hit) / (SAMPLES * SAMPLES));
    }
  }
  return { reach, size, cover };
}

const kept = new Map();

/** The stamps of a shape for a radius in pixels, one for each place between pixels. */
export function stampsOf(shape, radius) {
  const quarter = Math.max(2, Math.round(radius * 4));
  const key = shape * 1000 + quarter;
  if (!kept.has(key)) {
    const stamps = [];
    for (let at = 0; at < STEPS * STEPS; at++) {
      stamps.push(stamp(shape, quarter / 4, (at % STEPS) / STEPS, Math.floor(at / STEPS) / STEPS));
    }
    kept.set(key, stamps);
  }
  return kept.get(key);
}

/**
 * Blend a stamp into pixels (opaque, one number each) at a place; colour is of the same form.
 * Red with blue, and green, are mixed as two numbers: three would cost half as much again.
 */
export function press(pixels, width, height, stamps, px, py, colour, alpha) {
  const left = Math.floor(px);
  const top = Math.floor(py);
  const fine = Math.floor((py - top) * STEPS) * STEPS + Math.floor((px - left) * STEPS);
  const { reach, size, cover } = stamps[fine];
  if (left < -reach || top < -reach || left >= width + reach || top >= height + reach) return;
  const redBlue = colour & 0xff00ff;
  const green = colour & 0x00ff00;
  const firstRow = Math.max(0, reach - top);
  const lastRow = Math.min(size, height - top + reach);
  const firstColumn = Math.max(0, reach - left);
  const lastColumn = Math.min(size, width - left + reach);
  for (let row = firstRow; row < lastRow; row++) {
    let to = (top - reach + row) * width + left - reach + firstColumn;
    let from = row * size + firstColumn;
    for (let column = firstColumn; column < lastColumn; column++, to++, from++) {
      const part = (cover[from] * alpha) >> 8;
      if (part === 0) continue;
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

/** "rgb(1, 2, 3)" or "#010203" as a number of the form that a canvas has in memory. */
export function packed(css) {
  const hex = /^#([0-9a-f]{6})$/i.exec(css.trim());
  const [r, g, b] = hex
    ? [0, 2, 4].map((at) => parseInt(hex[1].slice(at, at + 2), 16))
    : (css.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}
