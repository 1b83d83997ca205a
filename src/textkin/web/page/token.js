// Write token: requested once, and kept in the tab only.

import { ApiError } from "./api.js";
import { button, el, freshId } from "./dom.js";

const KEY = "textkin-token";

/**
 * Do something that requires the token: calls `write(token)`, and again with another token if the
 * server rejects it. Returns undefined if the user cancels.
 */
export async function withToken(write) {
  let token = sessionStorage.getItem(KEY);
  let wrong = "";
  for (;;) {
    if (!token) token = await ask(wrong);
    if (!token) return undefined;
    sessionStorage.setItem(KEY, token);
    try {
      return await write(token);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "unauthorized") throw error;
      sessionStorage.removeItem(KEY);
      token = null;
      wrong = "The server rejected this token.";
    }
  }
}

function ask(wrong) {
  const heading = freshId("token");
  const about = freshId("token");
  const input = el("input", {
    class: "input mono", type: "password", name: "token", required: true, autocomplete: "off",
    "aria-describedby": about, "aria-invalid": wrong ? "true" : null,
  });
  const dialog = el("dialog", { "aria-labelledby": heading },
    el("form", { method: "dialog", class: "stack", on: { submit: take } },
      el("h2", { id: heading }, "Write token"),
      el("p", { class: "hint", id: about }, "The token that textkin serve was started with. It is kept in this tab only, until the tab is closed."),
      wrong && el("p", { class: "notice wrong", role: "alert" }, wrong),
      el("label", { class: "field" }, el("span", { class: "label" }, "Token"), input),
      el("div", { class: "row" }, el("button", { class: "button primary", type: "submit" }, "Continue"),
        button("Cancel", () => dialog.close(""), { kind: "quiet" }))));
  function take(event) {
    event.preventDefault();
    dialog.close(input.value.trim());
  }
  return result(dialog);
}

/** Ask the user for confirmation. */
export async function confirmed(title, text, action, otherwise = "Cancel") {
  const heading = freshId("confirm");
  const dialog = el("dialog", { "aria-labelledby": heading, class: "confirm" },
    el("div", { class: "stack" }, el("h2", { id: heading }, title), el("p", { class: "muted" }, text),
      el("div", { class: "row" }, button(action, () => dialog.close("yes"), { kind: "danger" }),
        button(otherwise, () => dialog.close(""), { kind: "quiet", autofocus: true }))));
  return (await result(dialog)) === "yes";
}

function result(dialog) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const leave = () => dialog.close(""); // the page behind the dialog has changed
    addEventListener("popstate", leave);
    dialog.addEventListener("close", () => {
      removeEventListener("popstate", leave);
      dialog.remove();
      if (before?.isConnected) before.focus();
      resolve(dialog.returnValue);
    });
    dialog.addEventListener("cancel", () => { dialog.returnValue = ""; });
    document.body.append(dialog);
    dialog.showModal();
  });
}
