// Shows what a citation cites while it is hovered or has the focus, and leads to the
// row of its source where it does not lead to the passage itself.

import { calm, parse } from "./dom.js";

const gap = 8;
let shown = null; // the tip
let by = null; // the citation that it is shown by
let leaving = 0;

const place = () => {
  if (!by.isConnected) return hideTip();
  const mark = by.getBoundingClientRect();
  if (mark.bottom < 0 || mark.top > innerHeight) return hideTip();
  const box = shown.getBoundingClientRect();
  const left = Math.max(gap, Math.min(mark.left, document.documentElement.clientWidth - box.width - gap));
  const above = mark.top - box.height - gap;
  shown.style.left = `${left}px`;
  shown.style.top = `${above >= gap ? above : mark.bottom + gap}px`;
  return true;
};

// The row of a citation's source. One that leads to its passage names the row besides.
const rowOf = (cite) => cite.dataset.row ?? cite.hash.slice(1);

const show = (cite) => {
  const tip = document.getElementById(`${rowOf(cite)}-tip`);
  if (!tip || tip === shown && cite === by) return;
  hideTip();
  shown = tip;
  by = cite;
  tip.hidden = false;
  place();
  quote(cite, tip);
};

// quote adds the words of the passage that is cited, once.
const quote = async (cite, tip) => {
  if (!cite.dataset.row || tip.dataset.quoted !== undefined) return;
  tip.dataset.quoted = "";
  try {
    const response = await fetch(`${cite.href}?quote`);
    if (!response.ok) return;
    tip.append(parse(await response.text()));
    if (tip === shown) place();
  } catch {
    delete tip.dataset.quoted; // it is read when it is looked at again
  }
};

/** Hides what is shown of a citation; false where nothing was. */
export const hideTip = () => {
  clearTimeout(leaving);
  if (!shown) return false;
  shown.hidden = true;
  shown = by = null;
  return true;
};

// The pointer may go over to what is shown, to copy from it.
const leave = () => {
  clearTimeout(leaving);
  leaving = setTimeout(hideTip, 150);
};

export const handleCites = () => {
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const cite = event.target.closest("a.cite");
    if (cite || event.target.closest(".tip")) clearTimeout(leaving);
    if (cite) show(cite);
    else if (shown && !event.target.closest(".tip")) leave();
  });
  document.addEventListener("focusin", (event) => {
    const cite = event.target.closest("a.cite");
    if (cite && cite.matches(":focus-visible")) show(cite);
    else hideTip();
  });
  document.addEventListener("click", (event) => {
    const cite = event.target.closest("a.cite");
    if (!cite) return;
    hideTip();
    if (cite.dataset.row) return;
    const mark = document.getElementById(rowOf(cite));
    if (!mark) return;
    event.preventDefault();
    history.replaceState(null, "", cite.hash);
    document.querySelector(".source.cited")?.classList.remove("cited");
    mark.closest(".source").classList.add("cited");
    mark.closest("details").open = true;
    mark.focus({ preventScroll: true });
    mark.scrollIntoView({ block: "center", behavior: calm() });
  });
  addEventListener("scroll", () => shown && place(), { passive: true });
};
