// Shortcuts. Those of a single letter or sign can be turned off, for people whose
// speech or hand makes letters that they do not mean.

import { chooseFiles } from "./attach.js";
import { hideTip } from "./cites.js";
import { editable, store } from "./dom.js";
import { closeDrawer } from "./drawer.js";
import { closeWhy, explainLast } from "./why.js";

const help = document.getElementById("keys");
const single = document.getElementById("single-keys");
const opener = document.querySelector("[data-keys]");
const kept = store("localStorage");

const stop = () => document.querySelector(".exchange[data-working] .stop button")?.click();

const choose = (number) => {
  const questions = document.querySelectorAll(".choices");
  questions[questions.length - 1]?.querySelectorAll("button")[number - 1]?.click();
};

const press = (event) => {
  switch (event.key) {
    case "/":
      document.getElementById("text")?.focus();
      break;
    case "?":
      help.showModal();
      break;
    case "a":
      chooseFiles();
      break;
    case "n":
      location.assign("/");
      break;
    case "w":
      explainLast();
      break;
    default:
      if (!/^[1-9]$/.test(event.key)) return;
      choose(Number(event.key));
  }
  event.preventDefault();
};

export const handleKeys = () => {
  single.checked = kept.get("single-keys") !== "off";
  single.addEventListener("change", () => kept.set("single-keys", single.checked ? "" : "off"));
  opener.hidden = false;
  opener.addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (help.open || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (!(hideTip() || closeDrawer() || closeWhy())) stop();
    } else if (single.checked && !editable(event.target)) {
      press(event);
    }
  });
};
