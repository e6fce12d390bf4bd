// Who else has the page open, and where they are.

import { $getSelection, $isRangeSelection } from "./lexical.js";
import { idOf, topOf } from "./blocks.js";

const colours = 6;
const list = document.getElementById("people");
const marks = document.createElement("div");
marks.className = "carets";
marks.ariaHidden = "true";
document.body.append(marks);

const colourOf = (tab) => [...tab].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % colours;

const initials = (name) => {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return ((words[0]?.[0] ?? "?") + (words[1]?.[0] ?? "")).toUpperCase();
};

export const registerPeople = (editor, sync, tell) => {
  let there = [];
  let told = null;
  let timer;

  const draw = () => {
    const shown = there.filter(({ block }) => block).map(({ tab, name, block }) => {
      const element = editor.getElementByKey(sync.keys.get(block) ?? "");
      if (!element) return null;
      const box = element.getBoundingClientRect();
      const mark = document.createElement("div");
      mark.className = `who who-${colourOf(tab)}`;
      mark.style.top = `${box.top + scrollY}px`;
      mark.style.left = `${Math.max(2, box.left + scrollX - 12)}px`;
      mark.style.height = `${Math.max(box.height, 20)}px`;
      const label = document.createElement("span");
      label.textContent = name;
      mark.append(label);
      return mark;
    });
    marks.replaceChildren(...shown.filter(Boolean));
  };

  const show = (people) => {
    const names = (of) => of.map(({ name }) => name);
    const came = names(people).filter((name) => !names(there).includes(name));
    const left = names(there).filter((name) => !names(people).includes(name));
    if (told) tell([...came.map((name) => `${name} is here.`), ...left.map((name) => `${name} left.`)].join(" "));
    told = true;
    there = people;
    list.replaceChildren(...people.map(({ tab, name }) => {
      const item = document.createElement("li");
      const face = document.createElement("span");
      face.className = `face who-${colourOf(tab)}`;
      face.textContent = initials(name);
      face.ariaHidden = "true";
      const label = document.createElement("span");
      label.className = "hidden";
      label.textContent = name;
      item.title = name;
      item.append(face, label);
      return item;
    }));
    draw();
  };

  // report tells others which block this person is in.
  let at = "";
  const report = () => {
    const block = editor.read(() => {
      const selection = $getSelection();
      if (!$isRangeSelection(selection) || document.activeElement !== editor.getRootElement()) return "";
      const top = topOf(selection.anchor.getNode());
      return top ? idOf(top) : "";
    });
    if (block === at) return;
    at = block;
    fetch(`/page/${sync.page}/presence`, {
      method: "POST", body: JSON.stringify({ tab: sync.tab, block }), headers: { Accept: "application/json", "Content-Type": "application/json" },
    }).catch(() => (at = ""));
  };
  editor.registerUpdateListener(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      draw();
      report();
    }, 300);
  });
  addEventListener("resize", draw);
  return { show, again: () => ((at = ""), report()) };
};
