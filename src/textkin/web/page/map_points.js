// Points of a map: their positions, and searches for nearby points. Does not draw.

const IN_A_CELL = 3; // average number of points per grid cell
const COARSE = 20; // cells per axis for finding the densest area of a group

export class Points {
  /** x and y: numbers of equal length, in any range; a point is identified by its position in them. */
  constructor(x, y) {
    this.count = x.length;
    this.x = Float32Array.from(x);
    this.y = Float32Array.from(y);
    this.box = bounds(this.x, this.y);
    this.#sortIntoCells();
  }

  // A counting sort by cells: `order` from `starts[c]` to `starts[c + 1]` has the points of cell c.
  #sortIntoCells() {
    const { count, box } = this;
    this.side = Math.max(1, Math.floor(Math.sqrt(count / IN_A_CELL)));
    this.cellWide = (box.right - box.left) / this.side || 1;
    this.cellHigh = (box.bottom - box.top) / this.side || 1;
    const cells = new Uint32Array(count);
    this.starts = new Uint32Array(this.side * this.side + 1);
    for (let i = 0; i < count; i++) {
      cells[i] = this.#row(this.y[i]) * this.side + this.#column(this.x[i]);
      this.starts[cells[i] + 1]++;
    }
    for (let c = 1; c < this.starts.length; c++) this.starts[c] += this.starts[c - 1];
    const next = this.starts.slice();
    this.order = new Uint32Array(count);
    for (let i = 0; i < count; i++) this.order[next[cells[i]]++] = i;
  }

  #column(x) {
    return clamp(Math.floor((x - this.box.left) / this.cellWide), 0, this.side - 1);
  }

  #row(y) {
    return clamp(Math.floor((y - this.box.top) / this.cellHigh), 0, this.side - 1);
  }

  /** Call `visit` with each point in a rectangle. */
  #within(left, top, right, bottom, visit) {
    const lastRow = this.#row(bottom);
    const lastColumn = this.#column(right);
    for (let row = this.#row(top); row <= lastRow; row++) {
      const first = this.starts[row * this.side + this.#column(left)];
      const last = this.starts[row * this.side + lastColumn + 1];
      for (let at = first; at < last; at++) {
        const i = this.order[at];
        const x = this.x[i];
        const y = this.y[i];
        if (x >= left && x <= right && y >= top && y <= bottom) visit(i);
      }
    }
  }

  /** Return the nearest point within an ellipse, or -1; `allowed` has a 1 for each permitted point. */
  nearest(x, y, reachX, reachY, allowed) {
    let best = -1;
    let least = 1;
    this.#within(x - reachX, y - reachY, x + reachX, y + reachY, (i) => {
      if (!allowed[i]) return;
      const far = ((this.x[i] - x) / reachX) ** 2 + ((this.y[i] - y) / reachY) ** 2;
      if (far <= least) {
        least = far;
        best = i;
      }
    });
    return best;
  }

  /** Return the points of a rectangle, given by any two opposite corners. */
  inside(x0, y0, x1, y1, allowed) {
    const found = [];
    const [left, right] = x0 < x1 ? [x0, x1] : [x1, x0];
    const [top, bottom] = y0 < y1 ? [y0, y1] : [y1, y0];
    this.#within(left, top, right, bottom, (i) => {
      if (allowed[i]) found.push(i);
    });
    return found.sort((a, b) => a - b);
  }

  /** Return the next point from point `from` in a direction, or -1; sideways distance counts more. */
  towards(from, dx, dy, allowed) {
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < this.count; i++) {
      if (!allowed[i] || i === from) continue;
      const x = this.x[i] - this.x[from];
      const y = this.y[i] - this.y[from];
      const ahead = x * dx + y * dy;
      const aside = Math.abs(x * dy - y * dx);
      if (ahead <= 0 || aside > 2 * ahead) continue;
      const far = ahead + 2 * aside;
      if (far < least) {
        least = far;
        best = i;
      }
    }
    return best;
  }

  /** Return the densest area of some points: the mean of the points in the fullest three by three cells. */
  densest(members) {
    const { left, top, right, bottom } = this.box;
    const part = (value, low, high) => clamp(Math.floor(((value - low) / (high - low)) * COARSE), 0, COARSE - 1);
    const places = members.map((i) => [part(this.x[i], left, right), part(this.y[i], top, bottom)]);
    const around = new Uint32Array(COARSE * COARSE);
    for (const [column, row] of places) {
      for (let r = Math.max(0, row - 1); r <= Math.min(COARSE - 1, row + 1); r++) {
        for (let c = Math.max(0, column - 1); c <= Math.min(COARSE - 1, column + 1); c++) around[r * COARSE + c]++;
      }
    }
    const best = around.indexOf(around.reduce((most, count) => Math.max(most, count), 0));
    const [fullestColumn, fullestRow] = [best % COARSE, Math.floor(best / COARSE)];
    const inside = members.filter((_, at) =>
      Math.abs(places[at][0] - fullestColumn) <= 1 && Math.abs(places[at][1] - fullestRow) <= 1);
    const mean = (values) => inside.reduce((sum, i) => sum + values[i], 0) / inside.length;
    return [mean(this.x), mean(this.y)];
  }
}

export function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}

/** Return the rectangle around points; the rectangle of a single position has width 1. */
export function bounds(x, y, members = null) {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  const count = members ? members.length : x.length;
  for (let at = 0; at < count; at++) {
    const i = members ? members[at] : at;
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    top = Math.min(top, y[i]);
    bottom = Math.max(bottom, y[i]);
  }
  if (!(left < right)) [left, right] = Number.isFinite(left) ? [left - 0.5, left + 0.5] : [0, 1];
  if (!(top < bottom)) [top, bottom] = Number.isFinite(top) ? [top - 0.5, top + 0.5] : [0, 1];
  return { left, right, top, bottom };
}
