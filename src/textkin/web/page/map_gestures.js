// Pointer, wheel, and keys of a map: pan, zoom, hover, select, select a box, and move between
// points.

const STILL = 5; // maximum movement of a click, in pixels
const STEP = 1.5; // zoom factor of a key or button
const PAN = 90; // pixels per key press
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function listen(surface, map) {
  const down = new Map(); // pressed pointers and their positions
  let began = null; // position of the first pressed pointer
  let moved = false;
  let spread = 0; // distance of two fingers

  const place = (event) => {
    const box = surface.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const ready = () => map.points && map.points.count > 0 && map.images;

  surface.addEventListener("pointerdown", (event) => {
    if (!ready() || event.button !== 0) return;
    surface.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    map.camera.stop();
    if (down.size === 1) {
      began = { at: place(event), box: event.shiftKey };
      moved = false;
    } else {
      began.box = false;
      map.drawBox(null);
      moved = true;
      spread = 0;
    }
  });

  surface.addEventListener("pointermove", (event) => {
    if (!ready()) return;
    const to = place(event);
    const from = down.get(event.pointerId);
    if (!from) {
      if (event.pointerType !== "touch") map.hover(map.at(...to));
      return;
    }
    if (Math.hypot(to[0] - began.at[0], to[1] - began.at[1]) > STILL) moved = true;
    if (!moved) return;
    map.hover(-1);
    down.set(event.pointerId, to);
    if (down.size === 2) pinch(from, to);
    else if (began.box) map.drawBox([...began.at, ...to]);
    else map.camera.pan(to[0] - from[0], to[1] - from[1]);
    surface.classList.toggle("panning", !began.box);
  });

  const pinch = (from, to) => {
    const [[ax, ay], [bx, by]] = [...down.values()];
    const wide = Math.hypot(ax - bx, ay - by);
    if (spread) map.camera.zoomAt((ax + bx) / 2, (ay + by) / 2, wide / spread);
    map.camera.pan((to[0] - from[0]) / 2, (to[1] - from[1]) / 2);
    spread = wide;
  };

  const up = (event) => {
    if (!down.delete(event.pointerId) || !ready()) return;
    surface.classList.remove("panning");
    if (down.size || event.type === "pointercancel") {
      map.drawBox(null);
      return;
    }
    const to = place(event);
    if (moved && began.box) {
      map.drawBox(null);
      map.on.choose(map.between(...began.at, ...to), event.ctrlKey || event.metaKey);
    } else if (!moved) {
      const i = map.at(...to);
      map.hover(i);
      if (i >= 0) map.focused = i;
      map.on.choose(i < 0 ? [] : [i], event.shiftKey || event.ctrlKey || event.metaKey);
    }
  };
  surface.addEventListener("pointerup", up);
  surface.addEventListener("pointercancel", up);
  surface.addEventListener("pointerleave", (event) => {
    if (ready() && event.pointerType !== "touch") map.hover(-1);
  });

  surface.addEventListener(
    "wheel",
    (event) => {
      if (!ready()) return;
      event.preventDefault();
      map.camera.stop();
      const lines = event.deltaMode === 1 ? 16 : 1;
      // a pinch on a touchpad arrives with the control key
      const pace = event.ctrlKey ? 0.012 : 0.0022;
      map.camera.zoomAt(...place(event), Math.exp(-event.deltaY * lines * pace));
    },
    { passive: false },
  );

  surface.addEventListener("keydown", (event) => {
    if (!ready() || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow && event.shiftKey) map.camera.pan(-arrow[0] * PAN, arrow[1] * PAN);
    else if (arrow) walk(...arrow);
    else if (event.key === "+" || event.key === "=") step(map, STEP);
    else if (event.key === "-") step(map, 1 / STEP);
    else if (event.key === "0" || event.key === "Home") map.reset();
    else if ((event.key === "Enter" || event.key === " ") && map.focused >= 0) {
      map.on.choose([map.focused], event.shiftKey || event.key === " ");
    } else if (event.key === "Escape") map.on.choose([], false);
    else return;
    event.preventDefault();
  });

  const walk = (dx, dy) => {
    if (map.focused < 0 || !map.active[map.focused]) {
      const [x, y] = [map.camera.x, map.camera.y];
      const { left, right, top, bottom } = map.points.box;
      map.focus(map.points.nearest(x, y, right - left, bottom - top, map.active));
      return;
    }
    const next = map.points.towards(map.focused, dx, dy, map.active);
    if (next >= 0) map.focus(next);
  };
  for (const name of ["focus", "blur"]) surface.addEventListener(name, () => map.redrawMarks());
}

/** Zoom in or out by a key or a button: around the focused point, or the center. */
export function step(map, factor) {
  const { camera, points, focused } = map;
  const [x, y] = focused >= 0 ? [points.x[focused], points.y[focused]] : [camera.x, camera.y];
  camera.glide(x, y, camera.zoom * factor);
}

export const zoomIn = (map) => step(map, STEP);
export const zoomOut = (map) => step(map, 1 / STEP);
