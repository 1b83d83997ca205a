// Many chosen documents in a URL: one bit per document of a map, in its order.

const LONGEST = 6000; // characters; servers reject a longer URL

/** Return the positions as a text for `unpacked`, or null if it would be too long. */
export function packed(map, positions) {
  const bits = new Uint8Array(Math.ceil((Math.max(...positions) + 1) / 8));
  for (const i of positions) bits[i >> 3] |= 1 << (i & 7);
  const letters = Array.from(bits, (byte) => String.fromCharCode(byte)).join("");
  const text = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return text.length <= LONGEST ? `${keyOf(map)}.${text}` : null;
}

/** Return the positions of a text, or null if it belongs to another map: another state, or other documents. */
export function unpacked(map, text) {
  const key = `${keyOf(map)}.`;
  if (!text.startsWith(key)) return null;
  let letters;
  try {
    letters = atob(text.slice(key.length).replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
  const positions = [];
  for (let i = 0; i < Math.min(map.ids.length, 8 * letters.length); i++) {
    if (letters.charCodeAt(i >> 3) & (1 << (i & 7))) positions.push(i);
  }
  return positions;
}

function keyOf(map) {
  return `${map.state}.${map.representation}.${map.ids.length}`;
}
