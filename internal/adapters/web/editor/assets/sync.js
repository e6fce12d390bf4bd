// Keeps the page and the server the same. What is typed is sent block by block, each with what it
// was made of; the server merges it with what others changed. One request is under way at a
// time. A request that got no answer is sent again as it was, under its key: it counts once.

import { $getNodeByKey, $getRoot, COLLABORATION_TAG, SKIP_SCROLL_INTO_VIEW_TAG } from "./lexical.js";
import { freshID, jsonOf, listBlocks, parseBlock, patch, topOf } from "./blocks.js";
import { reorder, unmoved } from "./order.js";

const pause = 400; // ms without typing until it is sent
const longest = 2000; // ms of typing until it is sent
const retries = [500, 1000, 2000, 4000];

/** The page as this window has it, and as the server has it. */
export class Sync extends EventTarget {
  /** title: the field of the title, null where it can't be changed. */
  constructor(editor, { page, tab, title, write }) {
    super();
    Object.assign(this, { editor, page, tab, title, write });
    this.known = new Map(); // blocks as the server has them in version, by their ids
    this.order = []; // their ids
    this.base = new Map(); // what blocks were that were changed here, where that is not what is known
    this.alike = new Map(); // blocks as this editor writes them where the server writes them otherwise
    this.held = new Set(); // blocks that wait for a choice
    this.touched = new Set();
    this.pending = null; // the request without an answer
    this.remote = 0; // the newest version that was heard of
    this.failed = 0;
    this.keys = new Map(); // of blocks here, by their ids
    this.local = []; // ids of blocks here
  }

  begin({ version, title, ids, root }) {
    this.version = this.remote = version;
    this.knownTitle = title;
    this.order = ids;
    this.known = new Map(ids.map((id, i) => [id, root.root.children[i]])); // written out when they are needed
    this.editor.read(() => this.list());
    this.editor.registerUpdateListener((update) => this.note(update));
    this.title?.addEventListener("input", () => this.wait());
  }

  list() {
    const { order, keys } = listBlocks();
    this.local = order;
    this.keys = keys;
  }

  knownOf(id) {
    const json = this.known.get(id);
    if (json === undefined) return null;
    if (typeof json === "string") return json;
    const text = JSON.stringify(json);
    this.known.set(id, text);
    return text;
  }

  /** What a change here was made of: what was sent, what it was when it was changed, or what is known. */
  originOf(id) {
    return this.pending?.blocks.get(id) ?? this.base.get(id) ?? this.knownOf(id);
  }

  jsonHere(id) {
    const node = this.keys.has(id) ? $getNodeByKey(this.keys.get(id)) : null;
    return node ? jsonOf(node) : null;
  }

  isSame(id, json, other) {
    return json === other || (json !== null && json === this.alike.get(id));
  }

  // note takes down which blocks an update changed.
  note({ dirtyElements, dirtyLeaves, editorState, tags }) {
    if (!dirtyElements.size && !dirtyLeaves.size) return;
    editorState.read(() => {
      if (dirtyElements.get("root")) this.list();
      const changed = new Set();
      for (const key of [...dirtyElements.keys(), ...dirtyLeaves]) {
        const top = topOf($getNodeByKey(key));
        if (top) changed.add(top.getKey());
      }
      for (const [id, key] of this.keys) if (changed.has(key)) this.touched.add(id);
    });
    if (!tags.has(COLLABORATION_TAG)) this.wait();
  }

  // wait has what was typed sent in a moment.
  wait() {
    if (!this.write) return;
    this.say("waiting");
    this.since ??= Date.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.sendNow(), Math.max(0, Math.min(pause, this.since + longest - Date.now())));
  }

  /** Has what was typed sent at once. */
  sendNow() {
    this.due = true;
    return this.run();
  }

  say(state, detail) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: { state, detail } }));
  }

  /** Hears that the server has a version. */
  hear(version) {
    this.remote = Math.max(this.remote, version);
    if (!this.failed) this.run();
  }

  /** Works until there is nothing to send and nothing to fetch. */
  async run() {
    if (this.running || this.stopped) return;
    this.running = true;
    clearTimeout(this.retry);
    try {
      for (let more = true; more && !this.stopped; ) more = await this.step();
      this.failed = 0;
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof Unreachable)) console.error(error);
      this.say("late");
      this.store();
      this.retry = setTimeout(() => this.run(), retries[Math.min(this.failed++, retries.length - 1)]);
    } finally {
      this.running = false;
    }
  }

  async step() {
    if (this.editor.isComposing()) { // a letter is being made of several keys
      this.wait();
      return false;
    }
    if (this.due && !this.pending) {
      this.due = false;
      this.since = undefined;
      clearTimeout(this.timer);
      this.pending = this.collect();
    }
    if (this.pending) {
      this.say("saving");
      await this.send();
      return true;
    }
    if (this.remote > this.version) {
      const { ok, answer } = await this.ask(`changes?since=${this.version}`);
      if (ok) this.take(answer);
      return ok && !this.stopped;
    }
    if (this.since === undefined) {
      this.forget();
      this.say(this.held.size ? "held" : "saved");
    }
    return false;
  }

  /** Gives what was changed here since it was sent, null for nothing. */
  collect() {
    return this.editor.read(() => {
      const changes = [];
      const blocks = new Map();
      const sent = this.pending?.blocks;
      const was = sent ? this.pending.order : this.order;
      const here = new Set(this.local);
      for (const id of was) {
        if (here.has(id) || this.held.has(id)) continue;
        const base = this.originOf(id);
        changes.push({ id, removed: true, ...(base && { base: JSON.parse(base) }) });
      }
      const stays = unmoved(was, this.local);
      this.local.forEach((id, i) => {
        if (this.held.has(id)) return;
        const isMoved = !stays.has(id);
        if (!isMoved && !this.touched.has(id)) return;
        const json = this.jsonHere(id);
        const origin = this.originOf(id);
        const change = { id };
        if (!this.isSame(id, json, origin)) {
          change.node = JSON.parse(json);
          if (origin) change.base = JSON.parse(origin);
          blocks.set(id, json);
        } else if (!isMoved) {
          this.touched.delete(id);
          this.base.delete(id);
          return;
        }
        if (isMoved || !this.known.has(id)) change.after = i ? this.local[i - 1] : "";
        changes.push(change);
      });
      const title = this.title && !this.held.has("title") && this.title.value.trim() !== (this.pending?.title ?? this.knownTitle) ? this.title.value.trim() : "";
      if (!changes.length && !title) return null;
      return {
        blocks, order: this.local.filter((id) => !this.held.has(id)), title,
        body: JSON.stringify({
          key: freshID(), base: this.version, blocks: changes,
          ...(title && { title: { base: this.pending?.title ?? this.knownTitle, text: title } }),
        }),
      };
    });
  }

  async ask(path, body) {
    const response = await fetch(`/page/${this.page}/${path}`, {
      method: body ? "POST" : "GET", body, headers: { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) },
    });
    if (response.status >= 500) throw new Unreachable();
    const answer = await response.json();
    if (!response.ok) {
      this.stopped = true;
      this.store();
      this.say("refused", answer.error);
    }
    return { ok: response.ok, answer };
  }

  async send() {
    const { ok, answer } = await this.ask("blocks", this.pending.body);
    if (!ok) return;
    if (!answer.conflicts) {
      this.take(answer, this.pending);
      return;
    }
    if (!answer.outdated) this.pending = null;
    this.take(answer);
    if (!this.stopped) this.hold(answer.conflicts, answer.authors);
  }

  // take takes over what the server has, or loads the page anew where the version here is so old that
  // the server does not keep it: what was not saved is sent by the window that comes.
  take(answer, sent) {
    if (!answer.outdated) {
      this.receive(answer, sent);
      return;
    }
    if (sent) this.pending = null;
    this.stopped = true;
    if (this.store()) {
      this.isLeaving = true;
      location.reload();
    } else this.say("refused", "This window is too old to be saved from. Copy what you wrote, and load the page anew.");
  }

  hold(conflicts, authors) {
    for (const { top } of conflicts) this.held.add(top);
    this.dispatchEvent(new CustomEvent("conflicts", { detail: { conflicts, authors } }));
  }

  /** Takes over what the server has, but for what was changed here since it was sent. */
  receive(update, sent) {
    const changes = new Map(update.blocks.map((change) => [change.id, change]));
    const ids = new Set([...changes.keys(), ...(sent?.blocks.keys() ?? [])]);
    const shown = [];
    this.editor.update(() => {
      this.list();
      const here = new Map();
      for (const id of ids) {
        const json = this.jsonHere(id);
        here.set(id, { json, origin: this.originOf(id) });
      }
      this.pending = null;
      for (const id of ids) {
        const change = changes.get(id);
        if (change?.removed) this.known.delete(id);
        else if (change?.node) this.known.set(id, JSON.stringify(change.node));
      }
      this.order = reorder(this.order, update.blocks);
      for (const id of ids) {
        const { json, origin } = here.get(id);
        if (!this.isSame(id, json, origin)) { // it was changed here meanwhile
          if (origin !== null && (json !== null || this.known.has(id))) this.base.set(id, origin);
          else this.base.delete(id);
          continue;
        }
        this.base.delete(id);
        if (this.show(id, changes.get(id), json, sent)) shown.push(id);
      }
      this.list();
    }, {
      discrete: true, tag: [COLLABORATION_TAG, SKIP_SCROLL_INTO_VIEW_TAG],
    });
    this.editor.read(() => {
      for (const id of ids) {
        const json = this.base.has(id) ? null : this.jsonHere(id);
        if (json !== null && json !== this.knownOf(id) && this.known.has(id) && shown.includes(id)) this.alike.set(id, json);
      }
    });
    this.version = update.version;
    this.remote = Math.max(this.remote, update.version);
    this.takeTitle(update.title, sent);
    if (shown.length || update.authors.length) this.dispatchEvent(new CustomEvent("changed", { detail: { ids: shown, authors: update.authors } }));
  }

  // show makes a block that was not changed here what is known of it.
  show(id, change, json, sent) {
    const known = this.knownOf(id);
    const node = this.keys.has(id) ? $getNodeByKey(this.keys.get(id)) : null;
    if (known === null) {
      node?.remove();
      return node !== null;
    }
    let shown = node;
    if (!node) {
      shown = parseBlock(JSON.parse(known), id);
      this.place(id, shown);
    } else {
      if (!this.isSame(id, json, known)) shown = patch(node, JSON.parse(known));
      if (change?.after !== undefined && !sent?.blocks.has(id)) this.place(id, shown);
    }
    this.keys.set(id, shown.getKey());
    return !node || !this.isSame(id, json, known);
  }

  // place puts a block behind the one that it follows on the server, as far as that is here.
  place(id, node) {
    const at = this.order.indexOf(id);
    for (let i = at - 1; i >= 0; i--) {
      const before = this.keys.has(this.order[i]) ? $getNodeByKey(this.keys.get(this.order[i])) : null;
      if (!before?.isAttached()) continue;
      if (before.getNextSibling()?.is(node)) return;
      before.insertAfter(node, false);
      return;
    }
    const first = $getRoot().getFirstChild();
    if (!first) $getRoot().append(node);
    else if (!first.is(node)) first.insertBefore(node, false);
  }

  takeTitle(title, sent) {
    const field = this.title;
    if (field && field.value.trim() === (sent?.title ?? this.knownTitle)) {
      if (title !== field.value.trim()) field.value = title;
    }
    this.knownTitle = title;
    this.dispatchEvent(new CustomEvent("title", { detail: title }));
  }

  /** Decides a conflict: "theirs" is what is saved, "mine" what is here, "both" one behind the other. */
  decide(id, choice) {
    this.held.delete(id);
    if (id === "title") {
      if (choice === "theirs") this.title.value = this.knownTitle;
      this.wait();
      return;
    }
    this.editor.update(() => {
      this.list();
      const known = this.knownOf(id);
      const node = this.keys.has(id) ? $getNodeByKey(this.keys.get(id)) : null;
      this.base.delete(id);
      if (choice === "mine") return; // it is a change of what is saved now
      if (choice === "both" && node && known) {
        const copy = JSON.parse(jsonOf(node));
        dropIDs(copy);
        node.insertAfter(parseBlock(copy), false);
      }
      if (!known) {
        if (choice === "theirs") node?.remove();
      } else if (node) patch(node, JSON.parse(known));
      else this.place(id, parseBlock(JSON.parse(known), id));
    }, { discrete: true });
    this.touched.add(id);
    this.wait();
  }

  /** Keeps what was not saved, should this window go; false where the browser does not. */
  store() {
    try {
      const rest = this.write ? this.collect() : null;
      const bodies = [this.pending?.body, rest?.body].filter(Boolean);
      if (bodies.length) localStorage.setItem(this.storeKey, JSON.stringify(bodies));
      else this.forget();
      return true;
    } catch {
      return false; // The browser keeps nothing for pages: the window is left with a question instead.
    }
  }

  get storeKey() { return `page ${this.page} ${this.tab}`; }

  forget() {
    try {
      localStorage.removeItem(this.storeKey);
    } catch {
      // as above
    }
  }

  /** Whether something was not saved yet. */
  isUnsaved() {
    return this.write && !this.isLeaving && (this.pending !== null || this.held.size > 0 || this.collect() !== null);
  }

  /** Sends what windows that are gone could not. A repeated one counts once. */
  async recover() {
    let stored = [];
    try {
      stored = Object.keys(localStorage).filter((key) => key.startsWith(`page ${this.page} `));
    } catch {
      return;
    }
    for (const key of stored) {
      for (const body of JSON.parse(localStorage.getItem(key))) {
        const { ok, answer } = await this.ask("blocks", body);
        if (!ok) return;
        if (answer.conflicts) this.adopt(JSON.parse(body), answer);
        else this.remote = Math.max(this.remote, answer.version);
      }
      localStorage.removeItem(key);
    }
  }

  // adopt makes changes that clash with others' again in this window, to be chosen from.
  adopt({ blocks }, { conflicts, authors }) {
    this.editor.update(() => {
      this.list();
      for (const { id, node, base, removed } of blocks) {
        const here = this.keys.has(id) ? $getNodeByKey(this.keys.get(id)) : null;
        if (base) this.base.set(id, JSON.stringify(base));
        if (removed) here?.remove();
        else if (here && node) patch(here, node);
        else if (node) this.place(id, parseBlock(node, id));
        this.touched.add(id);
      }
    }, { discrete: true });
    this.hold(conflicts, authors);
  }
}

class Unreachable extends Error {}

const dropIDs = (json) => {
  if (json.$) delete json.$.id;
  json.children?.forEach(dropIDs);
};
