// Sends the page's forms in place: messages, choices, stop, retry, thumbs.

import { attach, attached, upload } from "./attach.js";
import { store } from "./dom.js";
import { began } from "./talk.js";

const composer = document.getElementById("composer");
const text = document.getElementById("text");
const notice = document.getElementById("notice");
const drafts = store("sessionStorage");
const draft = `draft ${document.body.dataset.thread}`;

/** Shows a problem over the message field; "" takes it back. */
export const complain = (problem) => {
  notice.textContent = problem;
  notice.hidden = !problem;
};

const send = async (form, submitter) => {
  const fields = new FormData(form, submitter);
  const files = form === composer && attached().length > 0;
  if (!files) fields.delete("file");
  const body = files ? fields : new URLSearchParams(fields);
  if (form !== composer && body.has("text") && composer) {
    body.set("depth", composer.elements.depth.value);
    for (const chosen of composer.querySelectorAll("[name=collection]:checked")) body.append("collection", chosen.value);
  }
  try {
    const response = await (files ? upload(form.action, body) : fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } }));
    const answer = await response.json();
    complain(answer.error || "");
    if (answer.message) began(answer.message);
    return response.ok;
  } catch {
    complain("Cairn could not be reached. Check that it runs, then send again.");
    return false;
  }
};

const sendMessage = async () => {
  const message = text.value;
  const files = attached();
  if (composer.ariaBusy === "true" || (!message.trim() && !files.length)) return;
  const sending = send(composer); // reads the form before it is emptied
  text.value = "";
  drafts.set(draft, "");
  text.focus();
  const sent = await sending;
  if (!sent) text.value ||= message;
  else if (files.length) attach([]);
};

// A button waits for the stream to replace it, unless sending fails. It stays in the
// order of tabs meanwhile, for it has the focus.
const sendButton = async (form, button) => {
  if (button.ariaDisabled === "true") return;
  button.ariaDisabled = "true";
  const ok = await send(form, button);
  if (!ok || form.matches(".thumbs")) button.ariaDisabled = null;
};

export const handleForms = () => {
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post" || event.target.dataset.whole !== undefined) return;
    event.preventDefault();
    if (event.target === composer) sendMessage();
    else sendButton(event.target, event.submitter);
  });
  if (!text) return;
  text.value ||= drafts.get(draft);
  text.addEventListener("input", () => drafts.set(draft, text.value));
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      composer.requestSubmit();
    }
  });
  text.focus();
};
