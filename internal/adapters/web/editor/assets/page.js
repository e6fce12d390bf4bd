// Opens a page in the editor, and keeps it the same as on the server.

import {
  CHECK_LIST, createEditor, HorizontalRuleNode, ListItemNode, nodes, registerCheckList, registerList, registerMarkdownShortcuts, registerRichText,
  registerTablePlugin, registerTableSelectionObserver, TRANSFORMERS,
} from "./lexical.js";
import { freshID, keepIDs } from "./blocks.js";
import { registerConflicts } from "./conflicts.js";
import { store } from "./dom.js";
import { registerPeople } from "./people.js";
import { Sync } from "./sync.js";

const { page } = document.body.dataset;
const write = "write" in document.body.dataset;
const state = fetch(`/page/${page}/state`, { headers: { Accept: "application/json" } });
if (location.search === "?arrived") history.replaceState(null, "", location.pathname);

const sheet = document.getElementById("text");
const title = document.getElementById("title");
const saved = document.getElementById("saved");
const notice = document.getElementById("notice");
const status = document.getElementById("status");

// The window's name lasts across reloads.
const kept = store("sessionStorage");
const tab = kept.get("tab") || freshID();
kept.set("tab", tab);

let telling;
const tell = (text) => {
  clearTimeout(telling);
  if (text) telling = setTimeout(() => (status.textContent = text), 200);
};

const theme = {
  code: "block", image: "image", list: { checklist: "tasks", listitemChecked: "task done", listitemUnchecked: "task" },
  tableCellSelected: "cell-selected",
  text: { bold: "bold", code: "inline", italic: "italic", highlight: "marked", strikethrough: "strike", underline: "under", underlineStrikethrough: "under strike" },
};

const editor = createEditor({
  namespace: "cairn", nodes, theme, editable: write,
  onError(error) {
    console.error(error);
    notice.textContent = "Something went wrong in this window. What you wrote is kept; load the page anew.";
    notice.hidden = false;
  },
});
editor.tell = tell;

const rule = {
  dependencies: [HorizontalRuleNode], export: () => null, regExp: /^(---|\*\*\*|___)\s$/, type: "element",
  replace: (parent) => {
    const made = new HorizontalRuleNode();
    if (parent.getNextSibling()) parent.replace(made);
    else parent.insertBefore(made);
    made.selectNext();
  },
};

const words = {
  waiting: "Not saved yet", saving: "Saving …", saved: "Saved", held: "Waits for your choice",
  late: "Cairn can’t be reached. What you write is kept, and sent once it is back.",
};

// Items of check lists are items to assistive technology, which reads their box with them (see
// pages.css): Lexical makes them checkboxes, of which no list is made.
const keepItems = () => editor.registerMutationListener(ListItemNode, (changed) => {
  for (const key of changed.keys()) {
    const item = editor.getElementByKey(key);
    item?.removeAttribute("role");
    item?.removeAttribute("aria-checked");
  }
}, { skipInitialization: false });

// register has the editor do what a person types. It comes before the text: each part looks at
// all that is there when it is added.
const register = async () => {
  const parts = await Promise.all([import("./tools.js"), import("./undo.js")]);
  registerRichText(editor);
  registerList(editor);
  registerCheckList(editor);
  registerTablePlugin(editor);
  registerTableSelectionObserver(editor, true);
  registerMarkdownShortcuts(editor, [rule, CHECK_LIST, ...TRANSFORMERS]);
  keepIDs(editor, [...editor._nodes.values()].map(({ klass }) => klass));
  return parts;
};

const open = async () => {
  const parts = write ? await register() : [];
  const response = await state;
  const begun = await response.json();
  if (!response.ok) throw new Error(begun.error);
  sheet.contentEditable = String(write);
  if (begun.ids.length > 300) sheet.classList.add("long");
  keepItems();
  editor.setEditorState(editor.parseEditorState(begun.root));
  editor.setRootElement(sheet);
  sheet.ariaBusy = "false";

  const sync = new Sync(editor, { page, tab, title: write ? title : null, write });
  sync.begin(begun);
  showState(sync);
  const people = registerPeople(editor, sync, tell);
  if (write) await begin(sync, ...parts);
  performance.mark("ready");
  document.documentElement.dataset.ready = "";
  follow(sync, people);
};

const showState = (sync) => {
  sync.addEventListener("state", ({ detail: { state, detail } }) => {
    saved.textContent = write ? words[state] ?? "" : "";
    saved.title = saved.textContent;
    saved.classList.toggle("late", state === "late" || state === "held" || state === "refused");
    if (state === "refused") {
      notice.textContent = `${detail} What you wrote is kept in this browser.`;
      notice.hidden = false;
    }
  });
  sync.addEventListener("title", ({ detail }) => {
    document.title = `${detail} · Cairn`;
    document.getElementById("heading").textContent = detail;
    if (!write) title.textContent = detail;
  });
  sync.addEventListener("changed", ({ detail: { ids, authors } }) => {
    if (authors.length && ids.length) tell(`${authors.join(", ")} changed the page.`);
    if (!authors.length) return;
    for (const id of ids) {
      const element = editor.getElementByKey(sync.keys.get(id) ?? "");
      element?.classList.remove("fresh");
      requestAnimationFrame(() => element?.classList.add("fresh"));
    }
  });
};

const begin = async (sync, { registerTools }, { registerUndo }) => {
  registerConflicts(sync, editor, tell);
  const tools = registerTools(editor);
  registerUndo(editor, sync, tools.showUndo);
  title.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    editor.focus(undefined, { defaultSelection: "rootStart" });
  });
  sheet.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (link && (event.ctrlKey || event.metaKey)) window.open(link.href, "_blank", "noopener,noreferrer");
  });
  addEventListener("pagehide", () => sync.store());
  document.addEventListener("visibilitychange", () => document.hidden && sync.sendNow());
  addEventListener("beforeunload", (event) => {
    if (!sync.isUnsaved()) return;
    sync.store();
    sync.sendNow();
    event.preventDefault();
  });
  addEventListener("online", () => sync.run());
  await sync.recover();
};

// follow hears of new versions, and of who is here.
const follow = (sync, people) => {
  let events;
  const connect = () => {
    events?.close();
    events = new EventSource(`/page/${page}/events?since=${sync.version}&tab=${tab}`);
    events.addEventListener("open", () => {
      people.again();
      sync.run();
    });
    events.addEventListener("version", ({ data }) => sync.hear(JSON.parse(data)));
    events.addEventListener("people", ({ data }) => people.show(JSON.parse(data)));
    events.addEventListener("gone", () => {
      events.close();
      sync.stopped = true;
      sync.store();
      notice.textContent = "This page was deleted, or is not for you any more.";
      notice.hidden = false;
      editor.setEditable(false);
      sheet.contentEditable = "false";
    });
    events.addEventListener("error", () => {
      events.close();
      setTimeout(connect, 1000);
    });
  };
  connect();
  addEventListener("pagehide", () => events.close());
  addEventListener("pageshow", (event) => event.persisted && connect());
};

open().catch((error) => {
  console.error(error);
  notice.textContent = `The page could not be opened: ${error.message}`;
  notice.hidden = false;
});
