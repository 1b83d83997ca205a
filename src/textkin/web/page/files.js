// Files as documents, by the rules of textkin's readers: a text file is one document; each record
// of JSON Lines and CSV is a document, with the fields "text", "id", and "label".

/**
 * Read a file into rows: `{ name, table, columns, rows: [{ line, content }], problems }`, where content
 * is a text or a record. Throws an Error with the file name if nothing is readable.
 */
export async function readFile(file) {
  const text = decoded(await file.arrayBuffer(), file.name);
  const ending = file.name.toLowerCase().match(/\.[^.]*$/)?.[0] ?? "";
  if ([".jsonl", ".ndjson"].includes(ending)) return lines(file.name, text);
  if ([".csv", ".tsv", ".tab"].includes(ending)) return table(file.name, text, ending === ".csv" ? null : "\t");
  return { name: file.name, table: false, columns: [], rows: [{ line: null, content: text.replace(/\r\n?/g, "\n") }], problems: [] };
}

/** Return pasted texts as rows of a source. */
export function pasted(text, as) {
  const clean = text.replace(/\r\n?/g, "\n");
  const parts = as === "lines" ? clean.split("\n") : as === "paragraphs" ? clean.split(/\n\s*\n/) : [clean];
  const rows = parts.map((part) => part.trim()).filter(Boolean).map((content) => ({ line: null, content }));
  return { name: null, table: false, columns: [], rows, problems: [] };
}

/** Return the default column for a purpose; "" for none. */
export function usual(source, what) {
  if (source.columns.includes(what)) return what;
  if (what !== "text" || !source.table) return "";
  const left = source.columns.filter((name) => name !== "id" && name !== "label");
  return left.length === 1 ? left[0] : "";
}

/** Return the documents of a source: `fields` maps text, id, and label to its columns. */
export function documentsOf(source, fields) {
  const documents = [];
  const problems = [...source.problems];
  for (const { line, content } of source.rows) {
    const place = line === null ? source.name : `${source.name}:${line}`;
    try {
      documents.push(typeof content === "string" ? bare(place, content) : fromRecord(place, content, fields));
    } catch (error) {
      problems.push(`${place}: ${error.message}`);
    }
  }
  return { documents, problems };
}

function bare(place, text) {
  return place === null ? { text } : { id: place, text };
}

function fromRecord(place, record, fields) {
  const text = record[fields.text];
  if (fields.text === "" || text === undefined) {
    throw new Error(`the record must have a text field; its fields are ${Object.keys(record).slice(0, 12).join(", ")}`);
  }
  if (typeof text !== "string") throw new Error(`the text must be a string; ${fields.text} is ${JSON.stringify(text)?.slice(0, 40)}`);
  const metadata = { ...record };
  for (const name of [fields.text, fields.id, fields.label]) delete metadata[name];
  return {
    id: idOf(fields.id === "" ? undefined : record[fields.id], place),
    text,
    label: labelOf(fields.label === "" ? null : record[fields.label]),
    metadata,
  };
}

function idOf(id, place) {
  if (id === undefined || id === null || id === "") return place;
  if (typeof id === "string") return id;
  if (Number.isInteger(id)) return String(id);
  throw new Error(`an ID must be a string or an integer; got ${JSON.stringify(id).slice(0, 40)}`);
}

function labelOf(label) {
  if (label === undefined || label === null || label === "") return null;
  if (["string", "number", "boolean"].includes(typeof label)) return label;
  throw new Error(`a label must be a string or a number; got ${JSON.stringify(label).slice(0, 40)}`);
}

// ---------------------------------------------------------------- formats

function decoded(buffer, name) {
  const head = new Uint8Array(buffer, 0, Math.min(2, buffer.byteLength));
  const marked = head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "utf-8";
  let text;
  try {
    text = new TextDecoder(marked, { fatal: true }).decode(buffer);
  } catch {
    throw new Error(`${name} must be UTF-8. Convert it, or add it with textkin index add --encoding.`);
  }
  if (text.includes("\0")) throw new Error(`${name} must be a text file; it has NUL characters.`);
  return text;
}

function lines(name, text) {
  const rows = [];
  const problems = [];
  const columns = new Set();
  text.split("\n").forEach((line, at) => {
    if (line.trim() === "") return;
    let content;
    try {
      content = JSON.parse(line);
    } catch (error) {
      problems.push(`${name}:${at + 1}: invalid JSON (${error.message})`);
      return;
    }
    const record = content !== null && typeof content === "object" && !Array.isArray(content);
    if (!record && typeof content !== "string") {
      problems.push(`${name}:${at + 1}: expected an object or a string`);
      return;
    }
    if (record) for (const column of Object.keys(content)) columns.add(column);
    rows.push({ line: at + 1, content });
  });
  return { name, table: false, columns: [...columns], rows, problems };
}

function table(name, text, separator) {
  const header = text.split(/\r\n?|\n/, 1)[0];
  const by = separator ?? [",", ";", "\t"].reduce((a, b) => (header.split(b).length > header.split(a).length ? b : a));
  const records = separated(text, by);
  if (records.length === 0) return { name, table: true, columns: [], rows: [], problems: [`${name}: is empty`] };
  const columns = records[0].cells;
  const double = columns.find((column, at) => columns.indexOf(column) !== at);
  if (double !== undefined) throw new Error(`${name} must have unique column names; two columns are called ${double || "(empty)"}.`);
  const rows = [];
  const problems = [];
  for (const { line, cells } of records.slice(1)) {
    if (cells.length > columns.length) problems.push(`${name}:${line}: ${cells.length} fields, but ${columns.length} columns`);
    else rows.push({ line, content: Object.fromEntries(cells.map((cell, at) => [columns[at], cell])) });
  }
  return { name, table: true, columns, rows, problems };
}

/** Parse separated values, with doubled quotes in quotes; skip empty lines. */
export function separated(text, separator) {
  const records = [];
  let cells = [];
  let cell = "";
  let quoted = false;
  let line = 1;
  let start = 1;
  const close = () => {
    cells.push(cell);
    cell = "";
  };
  const finish = () => {
    close();
    if (cells.length > 1 || cells[0] !== "") records.push({ line: start, cells });
    cells = [];
    start = line;
  };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    const ends = letter === "\n" || (letter === "\r" && text[at + 1] !== "\n");
    if (ends) line += 1;
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (letter === '"' && cell === "") quoted = true;
    else if (letter === separator) close();
    else if (ends) finish();
    else if (letter !== "\r") cell += letter;
  }
  if (cell !== "" || cells.length > 0) finish();
  return records;
}
