// Searches the sections of all pages, which index.js has, for every word that is typed. Words in
// a heading count more than those in the text.
const query = document.getElementById("query");
const found = document.getElementById("found");
const article = document.querySelector("article");
const shown = 20;

function score(section, words) {
  const heading = (section.page + " " + section.heading).toLowerCase();
  const text = section.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const inHeading = heading.includes(word);
    const times = text.split(word).length - 1;
    if (!inHeading && times === 0) return 0;
    sum += (inHeading ? 10 : 0) + Math.min(times, 5) / (1 + text.length / 2000);
  }
  return sum;
}

function excerpt(text, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words.find((word) => text.toLowerCase().includes(word)) ?? "") - 60);
  return (at > 0 ? "…" : "") + text.slice(at, at + 180) + (at + 180 < text.length ? "…" : "");
}

function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  article.hidden = words.length > 0;
  found.hidden = words.length === 0;
  if (words.length === 0) return;
  const hits = sections
    .map((section) => ({ section, score: score(section, words) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score);
  const list = document.createElement("ol");
  for (const { section } of hits.slice(0, shown)) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = section.link;
    link.textContent = section.heading === section.page ? section.page : `${section.page} — ${section.heading}`;
    link.addEventListener("click", () => { query.value = ""; search(); });
    const text = document.createElement("p");
    text.textContent = excerpt(section.text, words);
    item.append(link, text);
    list.append(item);
  }
  const title = document.createElement("h1");
  title.textContent = hits.length === 1 ? "1 section" : `${hits.length} sections`;
  found.replaceChildren(title, list);
}

query.addEventListener("input", search);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== query) {
    event.preventDefault();
    query.focus();
  }
});
