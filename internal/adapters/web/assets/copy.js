// Copies code and answers, and finds threads in the list. Each needs the script: without it
// there is nothing to press.

const conversation = document.getElementById("conversation");
const threads = document.getElementById("list");

const button = (label, text) => {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "quiet copy";
  made.textContent = "Copy";
  made.setAttribute("aria-label", label);
  made.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      made.textContent = "Copied";
    } catch {
      made.textContent = "Not allowed"; // a page that is not served over https
    }
    setTimeout(() => (made.textContent = "Copy"), 2000);
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
  for (const acts of conversation.querySelectorAll(".reply .acts.under:not(:has(.copy))")) {
    acts.append(button("Copy the answer", () => words(acts.closest(".reply"))));
  }
};

const least = 8; // threads, from which a field to find them is worth its place

const offerSearch = () => {
  const rows = () => threads.querySelectorAll("li");
  if (!threads || rows().length < least) return;
  const field = document.createElement("input");
  field.type = "search";
  field.className = "find";
  field.placeholder = "Find a conversation";
  field.setAttribute("aria-label", "Find a conversation");
  const filter = () => {
    const wanted = field.value.trim().toLowerCase();
    for (const row of rows()) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  };
  field.addEventListener("input", filter);
  new MutationObserver(filter).observe(threads, { childList: true });
  threads.before(field);
};

export const handleCopies = () => {
  if (conversation) {
    offer();
    new MutationObserver(offer).observe(conversation, { childList: true, subtree: true });
  }
  offerSearch();
};
