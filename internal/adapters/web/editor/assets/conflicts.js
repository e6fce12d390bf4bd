// Blocks that two people changed in the same words: both versions, and a choice.

const section = document.getElementById("conflicts");

const element = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

// marked writes a text with what is not in the other marked.
const marked = (text, other) => {
  const shown = element("p");
  shown.dir = "auto";
  if (!text) {
    shown.append(element("span", "gone", "Removed"));
    return shown;
  }
  let head = 0;
  while (head < Math.min(text.length, other.length) && text[head] === other[head]) head++;
  let tail = 0;
  while (tail < Math.min(text.length, other.length) - head && text.at(-1 - tail) === other.at(-1 - tail)) tail++;
  const letter = /[\p{L}\p{N}]/u; // whole words are marked
  while (head > 0 && letter.test(text[head - 1])) head--;
  while (tail > 0 && letter.test(text.at(-tail))) tail--;
  shown.append(text.slice(0, head), element("mark", "", text.slice(head, text.length - tail)), text.slice(text.length - tail));
  return shown;
};

export const registerConflicts = (sync, editor, tell) => {
  const holds = (top, is) => editor.getElementByKey(sync.keys.get(top) ?? "")?.classList.toggle("held", is);

  const close = (card, top) => {
    const next = card.nextElementSibling ?? card.previousElementSibling;
    card.remove();
    holds(top, false);
    section.hidden = !section.childElementCount;
    (next?.querySelector("button") ?? editor.getRootElement()).focus({ preventScroll: true });
  };

  const show = ({ top, ours, theirs, kind }, authors) => {
    section.querySelector(`[data-block="${CSS.escape(top)}"]`)?.remove();
    const by = authors.length ? authors.join(", ") : "Somebody";
    const card = element("div", "conflict");
    card.dataset.block = top;
    card.append(element("h2", "", kind === "deleted" ? `${by} and you changed this: one of you removed it` : `${by} and you changed the same words`));
    const sides = element("div", "sides");
    for (const [label, text, other] of [["Saved", ours, theirs], ["Yours, not saved yet", theirs, ours]]) {
      const side = element("div", "side");
      side.append(element("h3", "", label), marked(text, other));
      sides.append(side);
    }
    const buttons = element("p", "buttons");
    const choices = [["theirs", "Keep what is saved"], ["mine", "Use mine"]];
    if (ours && theirs && top !== "title") choices.push(["both", "Keep both"]);
    for (const [choice, label] of choices) {
      const button = element("button", "", label);
      button.type = "button";
      button.addEventListener("click", () => {
        sync.decide(top, choice);
        close(card, top);
      });
      buttons.append(button);
    }
    card.append(sides, buttons);
    section.append(card);
    section.hidden = false;
    holds(top, true);
  };

  sync.addEventListener("conflicts", ({ detail: { conflicts, authors } }) => {
    for (const conflict of conflicts) show(conflict, authors);
    tell("Somebody changed the same words as you. Choose above the text what holds.");
  });
};
