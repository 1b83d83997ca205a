// Form for a document: text, label, and metadata.

import { ApiError } from "../api.js";
import { button, el, freshId, isolate, replace } from "../dom.js";
import { counted, shortened, value } from "../format.js";
import { failed } from "../states.js";
import { guard, leaving, losing } from "../unsaved.js";

/** `save(content)` may throw an ApiError, which the form shows; the input stays. */
export function editor(stats, document, { save, cancel }) {
  const limit = stats.limits.text ?? Infinity;
  const text = el("textarea", { class: "textarea", rows: "14", dir: "auto", name: "text", props: { value: document.text } });
  const label = el("input", { class: "input", name: "label", dir: "auto", autocomplete: "off", props: { value: labelText(document.label) } });
  const about = freshId("editor");
  const metadata = el("textarea", {
    class: "textarea mono", rows: "5", name: "metadata", spellcheck: "false", "aria-describedby": about,
    props: { value: JSON.stringify(document.metadata, null, 2) },
  });
  const messages = el("div", { "aria-live": "polite" });
  const submit = el("button", { class: "button primary", type: "submit" }, "Save");
  const form = el("form", { class: "stack editor", on: { submit: send } },
    el("h1", {}, "Edit ", isolate(shortened(document.id, 100))),
    field("Text", text),
    field("Label", label),
    field("Metadata", metadata, el("span", { class: "hint", id: about }, "A JSON object, such as {\"year\": 2015}.")),
    messages,
    el("div", { class: "row" }, submit, button("Cancel", async () => { if (!losing() || await leaving()) cancel(); }, { kind: "quiet" })));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  const inputs = [text, label, metadata];
  const before = inputs.map((input) => input.value);
  guard(form, () => (inputs.some((input, at) => input.value !== before[at]) ? "The changes to this document are not saved." : ""));
  return form;

  async function send(event) {
    event.preventDefault();
    const content = read();
    if (!content) return;
    submit.disabled = true;
    try {
      await save(content);
    } catch (error) {
      if (error instanceof ApiError) replace(messages, failed(error));
      else throw error;
    } finally {
      submit.disabled = false;
    }
  }

  function read() {
    const parsed = object(metadata.value);
    const problem = text.value.length > limit
      ? [text, `The text has ${counted(text.value.length, "character")}; the server accepts at most ${counted(limit, "character")}.`]
      : parsed === null && [metadata, "Metadata must be a JSON object, such as {\"year\": 2015}. Check quotes and commas."];
    for (const input of [text, metadata]) input.removeAttribute("aria-invalid");
    if (problem) {
      problem[0].setAttribute("aria-invalid", "true");
      problem[0].focus();
      replace(messages, el("p", { class: "notice wrong" }, problem[1]));
      return null;
    }
    return { text: text.value, label: labelValue(label.value, document.label), metadata: parsed };
  }
}

function field(name, input, hint) {
  return el("label", { class: "field" }, el("span", { class: "label" }, name), input, hint);
}

function labelText(label) {
  return label === null ? "" : value(label);
}

// A label that was a number or a boolean stays one unless it is changed.
function labelValue(text, before) {
  if (text === labelText(before)) return before;
  return text.trim() === "" ? null : text.trim();
}

function object(text) {
  if (text.trim() === "") return {};
  try {
    const content = JSON.parse(text);
    return content !== null && typeof content === "object" && !Array.isArray(content) ? content : null;
  } catch {
    return null;
  }
}
