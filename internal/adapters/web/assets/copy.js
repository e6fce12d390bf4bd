// Copies code and answers, and finds threads in the list. Each needs the script: without it
// there is nothing to press.

import { parse } from "./dom.js";

const conversation = document.getElementById("conversation");
const threads = document.getElementById("list");

const button = (label, text) => {
  let before = "";
  const made = document.createElement("button");
  made.type = "button";
  made.className = "quiet copy";
  made.textContent = "Copy";
  made.setAttribute("aria-label", label);
  made.addEventListener("click", async () => {
    before ||= made.textContent;
    try {
      await navigator.clipboard.writeText(text());
      made.textContent = "Copied";
    } catch {
      made.textContent = "Not allowed"; // a page that is not served over https
    }
    setTimeout(() => (made.textContent = before), 2000);
  });
  return made;
};

/** What an answer says, with the numbers of its sources in brackets. */
const words = (reply) => {
  const text = reply.querySelector(".text").cloneNode(true);
  for (const copy of text.querySelectorAll(".copy")) copy.remove();
  for (const cite of text.querySelectorAll(".cite")) cite.textContent = `[${cite.textContent.trim()}]`;
  text.style.cssText = "position: fixed; left: -100vw"; // innerText keeps lines of what is laid out
  document.body.append(text);
  const said = text.innerText.trim();
  text.remove();
  return said;
};

const offer = () => {
  for (const code of conversation.querySelectorAll(".part-said .text pre:not(:has(.copy))")) {
    code.append(button("Copy the code", () => (code.querySelector("code") ?? code).textContent));
  }
  for (const acts of conversation.querySelectorAll(".reply:is(.answered, .abstained) .acts.under:not(:has(.copy))")) {
    acts.append(button("Copy the answer", () => words(acts.closest(".reply"))));
  }
};

const pause = 250; // milliseconds after the last letter

// offerSearch finds conversations by what was said in them.
const offerSearch = () => {
  if (!threads) return;
  const field = document.createElement("input");
  field.type = "search";
  field.className = "find";
  field.placeholder = "Find a conversation";
  field.setAttribute("aria-label", "Find a conversation");
  let waiting = 0;
  const find = async () => {
    const words = field.value.trim();
    try {
      const response = await fetch(`/t/${document.body.dataset.thread}/found?words=${encodeURIComponent(words)}`);
      if (!response.ok || words !== field.value.trim()) return;
      threads.replaceChildren(...parse(await response.text()).childNodes);
      if (words) threads.dataset.found = "";
      else delete threads.dataset.found;
    } catch {
      // The list stays as it is.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, pause);
  });
  threads.before(field);
};

const offerLink = () => {
  for (const place of document.querySelectorAll("[data-copy-link]")) {
    const copy = button("Copy the link", () => location.origin + location.pathname);
    copy.textContent = "Copy the link";
    place.replaceWith(copy);
  }
};

export const handleCopies = () => {
  if (conversation) {
    offer();
    new MutationObserver(offer).observe(conversation, { childList: true, subtree: true });
  }
  offerSearch();
  offerLink();
};
