// API reference as a page: each route with parameters and an example to send.

const main = document.getElementById("api");

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function resolved(spec, schema) {
  if (!schema || !schema.$ref) return schema || {};
  return schema.$ref.split("/").slice(1).reduce((at, step) => at[step], spec);
}

function typeOf(spec, schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(spec, one)).join(" or ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" or ");
  if (schema.type === "array") return `list of ${typeOf(spec, schema.items || {})}`;
  return schema.type || "anything";
}

function bounds(schema) {
  const said = {
    minimum: (n) => `at least ${n}`,
    maximum: (n) => `at most ${n}`,
    minLength: (n) => `at least ${n} character`,
    maxLength: (n) => `at most ${n} characters`,
    minItems: (n) => `at least ${n}`,
    maxItems: (n) => `at most ${n}`,
  };
  const told = [schema, ...(schema.anyOf || [])].flatMap((one) =>
    Object.entries(said).filter(([key]) => one[key]).map(([key, say]) => say(one[key].toLocaleString("en"))));
  const given = JSON.stringify(schema.default ?? null);
  if (!["null", "[]", "{}", '""'].includes(given)) told.push(`default: ${given}`);
  return told.join("; ");
}

// Text between backticks is code.
function prose(text) {
  return text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));
}

function fieldTable(spec, rows) {
  if (!rows.length) return null;
  return element("table", {}, element("tbody", {}, ...rows.map(([name, schema, required, control]) =>
    element("tr", {},
      element("th", { scope: "row" }, element("code", {}, name), required ? " *" : ""),
      element("td", {}, typeOf(spec, schema)),
      element("td", { class: "soft" },
        ...prose([schema.description, bounds(schema)].filter(Boolean).join(" · "))),
      control ? element("td", {}, control) : null))));
}

async function send(method, path, controls, body, token, output) {
  const query = new URLSearchParams();
  for (const [name, input] of controls) if (input.value !== "") query.set(name, input.value);
  const address = query.size ? `${path}?${query}` : path;
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if (token && token.value) headers.Authorization = `Bearer ${token.value}`;
  output.textContent = `${method} ${address} …`;
  try {
    const answer = await fetch(address, { method, headers, body: body ? body.value : undefined });
    const text = await answer.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON */ }
    const cut = shown.length > 20000 ? `${shown.slice(0, 20000)}\n… ${shown.length - 20000} more characters` : shown;
    output.textContent = `${method} ${address}: ${answer.status}\n\n${cut}`;
  } catch (error) {
    output.textContent = `${method} ${address}: the server did not respond (${error.message}).`;
  }
}

function route(spec, path, method, described) {
  const parameters = (described.parameters || []).filter((one) => one.in === "query");
  const writes = (described.parameters || []).some((one) => one.in === "header");
  const content = described.requestBody?.content?.["application/json"];
  const schema = content ? resolved(spec, content.schema) : null;
  const controls = parameters.map((one) => {
    const example = one.schema.examples?.[0] ?? one.schema.default ?? "";
    return [one.name, element("input", { "aria-label": one.name, value: example })];
  });
  const body = schema ? element("textarea", { "aria-label": "body", spellcheck: "false" }) : null;
  if (body) body.value = JSON.stringify((schema.examples || [{}])[0], null, 2);
  const token = writes
    ? element("input", { "aria-label": "token", type: "password", placeholder: "token", autocomplete: "off" })
    : null;
  const output = element("pre", { "aria-live": "polite", tabindex: "0" });
  output.hidden = true;
  const button = element("button", { type: "button" }, "Send");
  button.addEventListener("click", () => {
    output.hidden = false;
    send(method.toUpperCase(), path, controls, body, token, output);
  });
  const required = new Set(schema?.required || []);
  const statuses = Object.entries(described.responses || {}).map(([status, answer]) =>
    [status, { description: answer.description,
      ...(answer.content?.["application/json"]?.schema || { type: "nothing" }) }, false]);
  return element("details", {},
    element("summary", {},
      element("span", { class: "method" }, method.toUpperCase()),
      element("code", {}, path),
      element("span", { class: "soft" }, (described.description || "").split("\n")[0])),
    element("div", { class: "inside" },
      fieldTable(spec, parameters.map((one, at) =>
        [one.name, { description: one.description, ...one.schema }, one.required, controls[at][1]])),
      schema ? fieldTable(spec, Object.entries(schema.properties || {})
        .map(([name, one]) => [name, one, required.has(name)])
        .sort((one, other) => other[2] - one[2])) : null,
      body, token, button, output,
      element("p", { class: "soft" }, "Responses"),
      fieldTable(spec, statuses)));
}

async function start() {
  const answer = await fetch("/openapi.json");
  const spec = await answer.json();
  const groups = new Map();
  for (const [path, methods] of Object.entries(spec.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const tag = (described.tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(route(spec, path, method, described));
    }
  }
  main.replaceChildren(
    element("h1", {}, `${spec.info.title}: HTTP API`),
    element("p", { class: "soft" }, `${spec.info.summary} Version ${spec.info.version}. `,
      element("a", { href: "/openapi.json" }, "/openapi.json"), " for programs; ",
      element("a", { href: "/" }, "the page"), " for people."),
    ...[...groups].flatMap(([tag, routes]) => [element("h2", {}, tag), ...routes]));
}

start().catch((error) => {
  main.replaceChildren(element("h1", {}, "HTTP API"),
    element("p", {}, `The API description could not be loaded (${error.message}). Is the server running?`));
});
