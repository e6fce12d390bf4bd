// What all parts of the page do with its elements.

/** The nodes of HTML that the server rendered. */
export const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
};

/**
 * Puts fresh nodes in place of all in a container. What had the focus in it gets it
 * back where it is there again, by its data-key, href or name; else fallback gets it.
 */
export const swap = (container, nodes, fallback) => {
  const active = document.activeElement;
  const inside = container.contains(active) && active !== container;
  const key = inside ? same(active) : "";
  container.replaceChildren(...nodes);
  if (!inside) return;
  const again = key && container.querySelector(key);
  (again || fallback)?.focus({ preventScroll: true });
};

const same = (element) => {
  const { key } = element.dataset;
  if (key) return `[data-key="${CSS.escape(key)}"]`;
  const href = element.getAttribute("href");
  if (href) return `a[href="${CSS.escape(href)}"]`;
  const label = element.getAttribute("aria-label");
  return label && element.matches("button, a") ? `[aria-label="${CSS.escape(label)}"]` : "";
};

export const calm = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");

/** Makes an element cover others, as a dialog does, or takes that back. */
export const cover = (element, others, covers) => {
  element.role = covers ? "dialog" : "complementary";
  element.ariaModal = covers ? "true" : null;
  for (const other of others) other.inert = covers;
};

/** Whether a person types into an element. */
export const editable = (element) => element.matches("textarea, input:not([type=checkbox]), select, [contenteditable]");

/** A store that forgets where the browser keeps nothing for pages. */
export const store = (area) => ({
  get: (key) => {
    try {
      return window[area].getItem(key) ?? "";
    } catch {
      return "";
    }
  },
  set: (key, value) => {
    try {
      if (value) window[area].setItem(key, value);
      else window[area].removeItem(key);
    } catch {
      // A full or forbidden store: the page works without it.
    }
  },
});
