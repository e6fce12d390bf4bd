// Undo and redo of what was done in this window, block by block. What others changed since stays.

import { $createParagraphNode, $getNodeByKey, $getRoot, COLLABORATION_TAG, COMMAND_PRIORITY_EDITOR, REDO_COMMAND, UNDO_COMMAND } from "./lexical.js";
import { jsonOf, listBlocks, parseBlock, patch } from "./blocks.js";

const apart = 1000; // ms between two letters that are undone one after the other
const deepest = 200;
const undoTag = "cairn-undo"; // of updates that undo something
const redoTag = "cairn-redo";

export const registerUndo = (editor, sync, changed) => {
  const undone = [];
  const done = [];
  const shown = new Map(); // blocks as they were after the last update, by their ids
  let order = editor.read(() => listBlocks().order);
  const report = () => changed({ undo: done.length > 0, redo: undone.length > 0 });

  const note = ({ editorState, dirtyElements, dirtyLeaves, tags }) => {
    if (!dirtyElements.size && !dirtyLeaves.size) return;
    const entry = { blocks: new Map(), at: Date.now() };
    editorState.read(() => {
      const before = order;
      let keys = sync.keys;
      if (dirtyElements.get("root")) ({ order, keys } = listBlocks());
      const dirty = new Set();
      for (const key of [...dirtyElements.keys(), ...dirtyLeaves]) dirty.add($getNodeByKey(key)?.getTopLevelElement?.()?.getKey());
      const ids = new Set();
      for (const [id, key] of keys) if (dirty.has(key)) ids.add(id);
      if (before !== order) {
        const was = new Set(before);
        const is = new Set(order);
        before.forEach((id) => is.has(id) || ids.add(id));
        order.forEach((id) => was.has(id) || ids.add(id));
      }
      const placeIn = (list) => {
        const places = new Map(list.map((id, i) => [id, i ? list[i - 1] : ""]));
        return (id) => places.get(id);
      };
      const [placeBefore, placeAfter] = before === order ? [() => undefined, () => undefined] : [placeIn(before), placeIn(order)];
      for (const id of ids) {
        const node = keys.has(id) ? $getNodeByKey(keys.get(id)) : null;
        const is = node ? jsonOf(node) : null;
        const was = shown.has(id) ? shown.get(id) : before.includes(id) ? sync.knownOf(id) : null;
        shown.set(id, is);
        if (was !== is) entry.blocks.set(id, { was, is, placeWas: placeBefore(id), placeIs: placeAfter(id) });
      }
    });
    if (!entry.blocks.size) return;
    if (tags.has(COLLABORATION_TAG)) return drop(entry.blocks.keys());
    if (tags.has(undoTag)) undone.push(entry);
    else if (tags.has(redoTag)) done.push(entry);
    else {
      undone.length = 0;
      if (!join(entry)) done.push(entry);
      if (done.length > deepest) done.shift();
    }
    report();
  };

  // drop leaves out of undo what others changed.
  const drop = (ids) => {
    for (const id of ids) for (const entry of [...done, ...undone]) entry.blocks.delete(id);
    for (const stack of [done, undone]) stack.splice(0, stack.length, ...stack.filter((entry) => entry.blocks.size));
    report();
  };

  // join adds letters to those that were typed just before.
  const join = (entry) => {
    const last = done.at(-1);
    if (!last || entry.at - last.at > apart || entry.blocks.size > 1 || last.blocks.size > 1) return false;
    const [[id, change]] = entry.blocks;
    const before = last.blocks.get(id);
    if (!before || before.was === null || change.is === null || change.placeWas !== undefined) return false;
    before.is = change.is;
    last.at = entry.at;
    return true;
  };

  const play = (from, tag) => {
    const entry = from.pop();
    if (!entry) return false;
    editor.update(() => {
      const { keys } = listBlocks();
      const at = (id) => (keys.has(id) ? $getNodeByKey(keys.get(id)) : null);
      const put = (node, behind) => {
        const before = at(behind) ?? (behind ? $getRoot().getLastChild() : null);
        if (before) before.insertAfter(node, false);
        else if ($getRoot().getFirstChild()) $getRoot().getFirstChild().insertBefore(node, false);
        else $getRoot().append(node);
      };
      let last = null;
      for (const [id, { was, is, placeWas, placeIs }] of entry.blocks) {
        const node = at(id);
        if ((node ? jsonOf(node) : null) !== is) continue; // somebody changed it since
        if (was === null) node.remove();
        else if (!node) put((last = parseBlock(JSON.parse(was), id)), placeWas);
        else {
          last = patch(node, JSON.parse(was));
          if (placeWas !== placeIs && placeWas !== undefined) put(last, placeWas);
        }
        if (last) keys.set(id, last.getKey());
      }
      if (last && !last.isSelected()) last.selectEnd?.();
      if (!$getRoot().getFirstChild()) $getRoot().append($createParagraphNode());
    }, { tag });
    return true;
  };

  editor.registerUpdateListener(note);
  editor.registerCommand(UNDO_COMMAND, () => play(done, undoTag), COMMAND_PRIORITY_EDITOR);
  editor.registerCommand(REDO_COMMAND, () => play(undone, redoTag), COMMAND_PRIORITY_EDITOR);
  report();
};
