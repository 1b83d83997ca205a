// The two texts of a comparison in a URL: short texts as parameters, long texts in the tab's
// storage.

const LONGEST = 1500; // maximum number of characters of both texts in a URL
const KEPT = 20; // maximum number of pairs in the tab's storage
const PREFIX = "textkin-compare-";

/** {a, b, ranking, missing}: a side is {text} or {id}; missing: the texts of the URL are not in this tab. */
export function readTexts(params, otherwise) {
  const kept = params.get("kept") ? read(params.get("kept")) : {};
  const side = (name) => {
    if (params.get(`${name}_id`)) return { id: params.get(`${name}_id`), text: null };
    return { id: null, text: params.get(name) ?? kept?.[name] ?? "" };
  };
  return { a: side("a"), b: side("b"), ranking: params.get("ranking") || otherwise, missing: kept === null };
}

export function writeTexts({ a, b, ranking }, otherwise) {
  const params = new URLSearchParams();
  const texts = {};
  for (const [name, side] of [["a", a], ["b", b]]) {
    if (side.id !== null) params.set(`${name}_id`, side.id);
    else if (side.text) texts[name] = side.text;
  }
  const length = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  if (length <= LONGEST) for (const [name, text] of Object.entries(texts)) params.set(name, text);
  else params.set("kept", keep(texts));
  if (ranking !== otherwise) params.set("ranking", ranking);
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

// One key per visit of the view, so that texts replace their earlier version while typing.
let present = null;

/** Start a new pair; the stored texts stay available to the back button. */
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
    // No storage: the link will report that the texts are missing.
  }
  return present;
}
