package webtest

// Checks are expressions that give a list of what is wrong with a page: texts that can't be
// read, what assistive technology could not tell, and what does not fit or can't be touched.
var Checks = []string{contrast, unnamed, cramped}

// Violations runs axe-core over a page that has loaded it and gives what it finds.
const Violations = `axe.run(document, { resultTypes: ["violations"] }).then((found) =>
	found.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target.join(" ") + ": " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message)))`

// contrast gives the texts whose colour is too near to that of what is behind them.
const contrast = `(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map(Number).map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const box = element.closest("svg") && element.parentElement?.querySelector(":scope > .box");
      if (box && getComputedStyle(box).fill !== "none") return getComputedStyle(box).fill;
      const color = getComputedStyle(element).backgroundColor;
      if (!/, 0\)$|transparent/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || element.matches("textarea");
    if (!own || !element.checkVisibility({ visibilityProperty: true }) || element.closest(".hidden, title")) continue;
    const styles = [getComputedStyle(element)];
    if (element.matches("textarea")) styles.push(getComputedStyle(element, "::placeholder"));
    for (const style of styles) {
      const color = element.closest("svg") ? style.fill : style.color;
      const [a, b] = [light(color), light(behind(element))];
      const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
      if (ratio < 4.5) bad.push(element.className + " " + element.tagName + " " + ratio.toFixed(2) + " " + element.textContent.trim().slice(0, 40));
    }
  }
  return bad;
})()`

// unnamed gives what assistive technology could not tell: controls without a name,
// ids that are not unique or not there, headings that skip a level.
const unnamed = `(() => {
  const bad = [];
  for (const element of document.querySelectorAll("input:not([type=hidden]), textarea, select, button, a, [role=region], dialog, aside:not([hidden]), nav")) {
    const by = element.getAttribute("aria-labelledby");
    const name = element.getAttribute("aria-label") || (by && document.getElementById(by)?.textContent) ||
      [...(element.labels || [])].map((l) => l.textContent).join("") || (element.matches("button, a") ? element.textContent : "");
    if (!name.trim()) bad.push("no name: " + element.outerHTML.slice(0, 80));
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => bad.push("id twice: " + id));
  for (const element of document.querySelectorAll("[aria-describedby]")) {
    const id = element.getAttribute("aria-describedby");
    if (!document.getElementById(id)) bad.push("described by nothing: " + id);
  }
  let level = 0;
  for (const heading of document.querySelectorAll("main h1, main h2, main h3, main h4, main h5, main h6")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) bad.push("heading skips a level: " + heading.outerHTML.slice(0, 80));
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) bad.push("not one h1");
  if (!document.documentElement.lang) bad.push("no language");
  return bad;
})()`

// cramped gives what is wider than the window, and what is too small to be touched.
const cramped = `(() => {
  const bad = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) {
    for (const element of document.querySelectorAll("body *")) {
      if (element.getBoundingClientRect().right > wide + 1 && !element.closest(".scroll, pre, .hidden, #threads")) bad.push("too wide: " + element.outerHTML.slice(0, 90));
    }
    bad.push("the page scrolls sideways: " + document.documentElement.scrollWidth);
  }
  for (const element of document.querySelectorAll("button, summary, select, .icon, .quiet, #list a")) {
    const box = element.getBoundingClientRect();
    if (element.checkVisibility() && (box.height < 24 || box.width < 24)) bad.push("too small to be touched: " + element.outerHTML.slice(0, 90));
  }
  return bad;
})()`
