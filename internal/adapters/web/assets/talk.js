// Follows the conversation: the event stream brings steps, drafts and answers.

import { calm, parse, swap } from "./dom.js";
import { readDraft, readEnd, tell } from "./speech.js";

const thread = document.body.dataset.thread;
const conversation = document.getElementById("conversation");
const text = document.getElementById("text");
const list = document.getElementById("list");
let seen = document.body.dataset.seen; // the last event
let sent = ""; // id of the exchange that this window started last
let following = false; // whether it is kept in view

const part = (exchange, name) => exchange.querySelector(`.part-${name}`);

// follow keeps the end of a growing answer in view, until its beginning is at the top.
const follow = (exchange) => {
  if (!following || exchange.id !== sent) return;
  const box = exchange.getBoundingClientRect();
  const dock = document.querySelector(".dock").offsetHeight;
  const top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  const by = Math.min(box.bottom + dock - innerHeight, box.top - top);
  if (by > 0) scrollBy({ top: by, behavior: exchange.dataset.working === undefined ? calm() : "auto" });
};

for (const event of ["wheel", "touchmove"]) addEventListener(event, () => (following = false), { passive: true });
addEventListener("keydown", (event) => {
  if (["PageUp", "PageDown", "ArrowUp", "Home", "End"].includes(event.key)) following = false;
});

/** Names the exchange that was just sent: it is kept in view, and questions in it get the focus. */
export const began = (id) => {
  sent = id;
  following = true;
  const exchange = document.getElementById(id);
  if (!exchange) return;
  follow(exchange);
  askFor(exchange);
};

const draft = (exchange, { from, blocks }) => {
  const place = part(exchange, "draft");
  const kept = [...place.children].slice(0, from);
  const fresh = (blocks ?? []).map((html) => {
    const block = document.createElement("div");
    block.className = "block";
    block.append(parse(html));
    return block;
  });
  if (fresh.length) {
    const steps = part(exchange, "steps").querySelector("details");
    if (steps && !place.childElementCount) steps.open = false;
  }
  place.replaceChildren(...kept, ...fresh);
  readDraft(exchange);
};

const steps = (exchange, html) => {
  const place = part(exchange, "steps");
  const before = place.querySelector("details");
  const open = before?.open;
  const writing = part(exchange, "draft").childElementCount > 0;
  swap(place, parse(html).childNodes, text);
  const now = place.querySelector("details");
  if (now && before && exchange.dataset.working !== undefined) now.open = writing ? open : now.open;
};

const said = (exchange, html) => {
  const place = part(exchange, "said");
  const before = place.childElementCount;
  const open = [...place.querySelectorAll("details[open]")].map((details) => details.id);
  swap(place, parse(html).childNodes, text);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (place.childElementCount > before) askFor(exchange);
  // What is asked about a thumb down comes below the answer, where the message field may hide it.
  if (place.contains(document.activeElement)) place.querySelector(".reason")?.scrollIntoView({ block: "nearest", behavior: calm() });
};

// askFor gives a new question the focus, unless the person writes something.
const askFor = (exchange) => {
  const question = part(exchange, "said").querySelector(".question:last-child:has(.choices)");
  const writes = document.activeElement === text ? text.value !== "" : document.activeElement !== document.body;
  if (question && exchange.id === sent && !writes) question.focus({ preventScroll: true });
};

const whole = (html) => {
  const fresh = parse(html).querySelector(".exchange");
  const exchange = document.getElementById(fresh.id);
  if (!exchange) {
    document.getElementById("empty")?.remove();
    if (!conversation.childElementCount) document.title = `${fresh.querySelector("h2").textContent} · Cairn`;
    conversation.append(fresh);
    return fresh;
  }
  for (const name of ["asked", "steps", "draft", "said"]) {
    swap(part(exchange, name), part(fresh, name).childNodes, text);
  }
  return exchange;
};

const apply = (update) => {
  const exchange = update.exchange === undefined ? document.getElementById(update.id) : whole(update.exchange);
  if (!exchange) return;
  const worked = exchange.dataset.working !== undefined;
  if (update.steps !== undefined) steps(exchange, update.steps);
  if (update.draft) draft(exchange, update.draft);
  if (update.said !== undefined) said(exchange, update.said);
  if (update.exchange !== undefined) askFor(exchange);
  exchange.toggleAttribute("data-working", update.working);
  follow(exchange);
  const current = part(exchange, "steps").querySelector(".steps")?.dataset.current;
  if (update.working && current) tell(current);
  if (!update.working && (worked || update.exchange !== undefined)) {
    tell("");
    readEnd(exchange);
  }
  document.dispatchEvent(new CustomEvent("exchange", { detail: exchange }));
};

/** Follows the stream while the page is looked at or an answer is made. */
export const connect = (complain) => {
  if (document.body.dataset.static !== undefined) return;
  let events;
  let failures = 0;
  const open = () => {
    if (events && events.readyState !== EventSource.CLOSED) return;
    events = new EventSource(`/t/${thread}/events?since=${encodeURIComponent(seen)}`);
    events.addEventListener("message", (event) => {
      if (event.lastEventId) seen = event.lastEventId;
      apply(JSON.parse(event.data));
    });
    events.addEventListener("threads", (event) => {
      if (list.dataset.found === undefined) swap(list, parse(JSON.parse(event.data)).childNodes);
    });
    events.addEventListener("open", () => {
      if (failures > 1) complain("");
      failures = 0;
    });
    events.addEventListener("error", () => {
      if (++failures === 2) complain("The connection is lost. Trying again…");
      if (events.readyState === EventSource.CLOSED) setTimeout(open, 3000);
    });
  };
  // A browser allows few streams at a time: one that nobody looks at gives way.
  const rest = () => {
    if (document.visibilityState === "visible") open();
    else if (!conversation.querySelector("[data-working]")) events?.close();
  };
  document.addEventListener("visibilitychange", rest);
  document.addEventListener("exchange", rest);
  addEventListener("pagehide", () => events?.close());
  addEventListener("pageshow", open);
  open();
};
