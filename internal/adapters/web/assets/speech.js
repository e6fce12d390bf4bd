// Tells people who listen what happens: the step that runs, each block of an answer
// once it is whole, and the end. Not every token: a screen reader would stutter.

const status = document.getElementById("status");
const spoken = document.getElementById("spoken");
const told = new Map(); // exchange id → blocks that were read out
const mostWords = 1200; // letters of an answer that comes whole

/** Says what is going on; the same is not said twice. */
export const tell = (text) => {
  if (status.textContent !== text) status.textContent = text;
};

const say = (text) => {
  if (!text) return;
  const line = document.createElement("p");
  line.textContent = text;
  spoken.append(line);
  while (spoken.childElementCount > 12) spoken.firstElementChild.remove();
};

/** Reads out the blocks of a draft that are whole: all but the last. */
export const readDraft = (exchange) => {
  const blocks = exchange.querySelectorAll(".part-draft > .block");
  const from = told.get(exchange.id) ?? 0;
  for (let i = from; i < blocks.length - 1; i++) say(blocks[i].textContent.trim());
  told.set(exchange.id, Math.max(from, blocks.length - 1));
};

/** Reads out what was said in the end, or how it ended where it was read out before. */
export const readEnd = (exchange) => {
  const last = exchange.querySelector(".part-said > :last-child");
  if (!last) return;
  const text = (last.querySelector(".text") ?? last).textContent.trim();
  if (last.matches(".question")) {
    const choices = last.querySelectorAll(".choices button").length;
    say(`Question: ${text}${choices ? ` ${choices} choices.` : ""}`);
  } else if (told.get(exchange.id) > 0) {
    const count = last.querySelectorAll(".source:not(.near)").length;
    say(`The answer is complete. ${count} source${count === 1 ? "" : "s"}.`);
  } else {
    say(text.length > mostWords ? `${text.slice(0, mostWords)}… The whole answer is on the page.` : text);
  }
  told.delete(exchange.id);
};
