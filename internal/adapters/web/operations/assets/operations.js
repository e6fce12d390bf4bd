// Keeps a screen as it is now while somebody looks at it.

import { editable, parse, swap } from "./dom.js";

const body = document.getElementById("body");
const live = document.getElementById("live");
let events;

const say = (text) => {
  if (live.textContent === text) return;
  live.textContent = text;
  live.hidden = !text;
};

// show puts what is new in place, and keeps what a person has set: what they write, the
// details that they opened, and how far tables are scrolled.
const show = (html) => {
  const active = document.activeElement;
  if (body.contains(active) && editable(active)) return; // the next one comes when they are done
  const opened = [...body.querySelectorAll("details")].map((details) => details.open);
  const scrolled = [...body.querySelectorAll(".scroll")].map((table) => table.scrollLeft);
  const fresh = parse(html);
  const filter = body.querySelector(".filter");
  if (filter) fresh.querySelector(".filter").replaceWith(filter);
  swap(body, fresh.childNodes);
  body.querySelectorAll("details").forEach((details, i) => { details.open = opened[i] ?? details.open; });
  body.querySelectorAll(".scroll").forEach((table, i) => { table.scrollLeft = scrolled[i] ?? 0; });
};

const open = () => {
  if (events && events.readyState !== EventSource.CLOSED) return;
  events = new EventSource(location.pathname + location.search);
  events.addEventListener("message", (event) => show(JSON.parse(event.data)));
  events.addEventListener("open", () => say(""));
  events.addEventListener("error", () => {
    say("Not live: the connection is lost. Trying again…");
    if (events.readyState === EventSource.CLOSED) setTimeout(open, 5000);
  });
};

// A stream that nobody looks at gives way.
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") open();
  else events?.close();
});
addEventListener("pagehide", () => events?.close());
addEventListener("pageshow", open);
open();
