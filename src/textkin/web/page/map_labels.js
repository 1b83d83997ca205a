// Names of groups on a map, near the center of their points, without overlaps.

const SIZE = 13;
const HIGH = 18;
const TRIES = [0, -1, 1, -2, 2, -3, 3]; // offsets to try for a label, in lines

/**
 * labels: [{text, x, y, muted, few}], the most important first; labels without space are
 * omitted. A label of few points is placed next to them, because it would cover them. `covered`: boxes
 * of other elements.
 */
export function placeLabels(context, camera, labels, { colors, family, covered }) {
  const taken = [...covered];
  context.font = `600 ${SIZE}px ${family}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.lineJoin = "round";
  for (const label of labels) {
    if (label.muted) continue;
    const wide = context.measureText(label.text).width;
    const [px, py] = camera.toScreen(label.x, label.y);
    if (px < 0 || py < 0 || px > camera.width || py > camera.height) continue;
    const left = Math.min(Math.max(4, px - wide / 2), camera.width - wide - 4);
    const line = (label.few ? TRIES.slice(1) : TRIES).find((lines) => {
      const top = py + lines * HIGH - HIGH / 2;
      const free = top >= 2 && top + HIGH <= camera.height - 2;
      return free && !taken.some((box) => overlap(box, { left, top, right: left + wide, bottom: top + HIGH }));
    });
    if (line === undefined) continue;
    const middle = py + line * HIGH;
    taken.push({ left: left - 6, top: middle - HIGH / 2, right: left + wide + 6, bottom: middle + HIGH / 2 });
    context.lineWidth = 4;
    context.strokeStyle = colors.paper;
    context.strokeText(label.text, left, middle);
    context.fillStyle = colors.ink;
    context.fillText(label.text, left, middle);
  }
}

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
