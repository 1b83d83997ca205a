// The two texts of a comparison in an address: short ones as they are, long ones kept in the tab.

const LONGEST = 1500; // characters of both texts that an address may carry
const KEPT = 20; // pairs that are kept in the tab
const PREFIX = "textkin-compare-";

/** {a, b, by, missing}: a side is {text} or {id}; missing: the address names texts that are not here. */
export function readTexts(params, otherwise) {
  const kept = params.get("kept") ? read(params.get("kept")) : {};
  const side = (name) => {
    if (params.get(`${name}_id`)) return { id: params.get(`${name}_id`), text: null };
    return { id: null, text: params.get(name) ?? kept?.[name] ?? "" };
  };
  return { a: side("a"), b: side("b"), by: params.get("by") || otherwise, missing: kept === null };
}

export function writeTexts({ a, b, by }, otherwise) {
  const params = new URLSearchParams();
  const texts = {};
  for (const [name, side] of [["a", a], ["b", b]]) {
    if (side.id !== null) params.set(`${name}_id`, side.id);
    else if (side.text) texts[name] = side.text;
  }
  const length = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  if (length <= LONGEST) for (const [name, text] of Object.entries(texts)) params.set(name, text);
  else params.set("kept", keep(texts));
  if (by !== otherwise) params.set("by", by);
  const query = params.toString();
  return query ? `/compare?${query}` : "/compare";
}

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + key));
  } catch {
    return null;
  }
}

// One key for a visit of the page: texts that change as one types take the place of the former.
let present = null;

/** Begin a new pair: what is kept so far stays for those who go back to it. */
export function turnPage() {
  present = null;
}

function keep(texts) {
  present ??= Math.random().toString(36).slice(2, 10);
  try {
    const old = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX) && key !== PREFIX + present);
    for (const key of old.slice(0, Math.max(0, old.length - KEPT))) sessionStorage.removeItem(key);
    sessionStorage.setItem(PREFIX + present, JSON.stringify(texts));
  } catch {
    // A tab without room or leave to keep things: the link then says that the texts are missing.
  }
  return present;
}
