// Shows how an answer came about beside the conversation, live while it is made.

import { cover, editable, parse, swap } from "./dom.js";
import { complain } from "./forms.js";

const thread = document.body.dataset.thread;
const panel = document.getElementById("why");
const behind = [document.getElementById("stage"), document.getElementById("threads")];
const covers = matchMedia("(max-width: 72rem)");
let place = ""; // of what is shown
let opener = null;
let loading = false;
let stale = false; // it changed while it was loaded

const fit = () => cover(panel, behind, !panel.hidden && covers.matches);

const show = (html) => {
  const scrolled = panel.scrollTop;
  swap(panel, parse(html).childNodes, panel);
  panel.scrollTop = scrolled;
  panel.querySelector("[data-why-close]").hidden = false;
};

const load = async () => {
  if (loading) {
    stale = true;
    return;
  }
  loading = true;
  try {
    do {
      stale = false;
      const response = await fetch(`/t/${thread}/why/${place}?panel`);
      if (!response.ok) throw new Error(response.statusText);
      const html = await response.text();
      if (place) show(html);
    } while (stale && place);
  } catch {
    complain("How this answer came about could not be read.");
    closeWhy();
  } finally {
    loading = false;
  }
};

const open = async (link) => {
  opener = link;
  place = link.dataset.why;
  await load();
  if (!place) return;
  panel.hidden = false;
  panel.scrollTop = 0;
  fit();
  panel.focus({ preventScroll: true });
};

/** Closes the panel; false where it was not open. */
export const closeWhy = () => {
  place = "";
  if (panel.hidden) return false;
  panel.hidden = true;
  fit();
  const back = opener?.isConnected ? opener : document.querySelector(`[data-key="${CSS.escape(opener?.dataset.key ?? "")}"]`);
  (back ?? document.getElementById("text"))?.focus();
  return true;
};

// follow goes on to the answer once it is there.
const follow = (exchange) => {
  if (place !== exchange.id) return;
  const answer = exchange.querySelector(".part-said [data-why]");
  if (answer && exchange.dataset.working === undefined) {
    place = answer.dataset.why;
    opener = answer;
  }
  load();
};

export const handleWhy = () => {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-why-close]")) closeWhy();
    const link = event.target.closest("a[data-why]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (place === link.dataset.why && !panel.hidden) closeWhy();
    else open(link);
  });
  document.addEventListener("exchange", (event) => follow(event.detail));
  covers.addEventListener("change", fit);
};

/** Opens the panel for the last answer, or what is being made. */
export const explainLast = () => {
  const links = document.querySelectorAll("a[data-why]");
  if (links.length && !editable(document.activeElement)) links[links.length - 1].click();
};
