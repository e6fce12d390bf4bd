// Blocks of the page: their lasting ids, their JSON, and how a block becomes what its JSON says
// while the caret stays where it is.

import {
  $exportNodeJSON, $getNodeByKey, $getRoot, $getSelection, $getState, $isElementNode, $isRangeSelection, $isTextNode,
  $parseSerializedNode, $setState, createState, LineBreakNode, TabNode, TextNode,
} from "./lexical.js";
import { shift } from "./order.js";

const idState = createState("id", { parse: (value) => (typeof value === "string" ? value : "") });

/** The lasting id of a node. */
export const idOf = (node) => $getState(node, idState);

/** An id that no other node has. */
export const freshID = () => {
  const letters = "0123456789abcdefghijkmnpqrstuvwxyz";
  return `n${[...crypto.getRandomValues(new Uint8Array(9))].map((n) => letters[n % letters.length]).join("")}`;
};

const exportNode = (node) => {
  const json = $exportNodeJSON(node);
  if ($isElementNode(node)) json.children = node.getChildren().map(exportNode);
  return json;
};

/** The JSON of a node with all below it, as the server writes it. */
export const jsonOf = (node) => JSON.stringify(exportNode(node));

/** Gives each node an id: a fresh one to what is new, and to what repeats another's, as copies do. */
export const keepIDs = (editor, kinds) => {
  let owners; // keys of nodes, by their ids
  const own = (node) => {
    if (!owners) {
      owners = new Map();
      for (const [key, other] of editor.getEditorState()._nodeMap) {
        const id = idOf(other);
        if (id) owners.set(id, key);
      }
    }
    if ($isTextNode(node) && joins(node)) return;
    const id = idOf(node);
    const owner = owners.get(id);
    const other = id && owner !== node.getKey() ? $getNodeByKey(owner) : null;
    if (!id || (other?.isAttached() && idOf(other) === id)) {
      const fresh = freshID();
      owners.set(fresh, node.getKey());
      $setState(node, idState, fresh);
    } else {
      owners.set(id, node.getKey());
    }
  };
  // A text that looks like the one before it takes its id: Lexical makes one of both then.
  const joins = (node) => {
    const before = node.getPreviousSibling();
    if (!$isTextNode(before) || !before.isSimpleText() || !node.isSimpleText() || before.isUnmergeable() || node.isUnmergeable()) return false;
    if (before.getFormat() !== node.getFormat() || before.getStyle() !== node.getStyle() || before.getDetail() !== node.getDetail()) return false;
    if (idOf(before) && idOf(before) !== idOf(node)) $setState(node, idState, idOf(before));
    return true;
  };
  for (const kind of new Set([...kinds, TextNode])) {
    if (kind === LineBreakNode || kind === TabNode) continue;
    editor.registerNodeTransform(kind, (node) => {
      if (!(node instanceof TabNode)) own(node);
    });
  }
};

/** Has a block take the id, the indent and the alignment of the one whose place it takes. */
export const keepID = (before, after) => {
  $setState(after, idState, idOf(before));
  after.setFormat(before.getFormatType());
  after.setIndent(before.getIndent());
};

/** The block right below the root that a node is in; null for the root. */
export const topOf = (node) => node?.getTopLevelElement?.() ?? null;

/** The ids of the blocks right below the root, and their keys by them. */
export const listBlocks = () => {
  const order = [];
  const keys = new Map();
  for (let node = $getRoot().getFirstChild(); node; node = node.getNextSibling()) {
    const id = idOf(node);
    order.push(id);
    keys.set(id, node.getKey());
  }
  return { order, keys };
};

/** Makes a node of its JSON, under an id where the JSON has none: a block of an unknown kind. */
export const parseBlock = (json, id) => {
  const node = $parseSerializedNode(json);
  if (id && !idOf(node)) $setState(node, idState, id);
  return node;
};

const patchText = (node, json) => {
  const before = node.getTextContent();
  const selection = $getSelection();
  const points = $isRangeSelection(selection) ? [selection.anchor, selection.focus].filter((point) => point.key === node.getKey()) : [];
  const places = points.map((point) => shift(before, json.text, point.offset));
  node.updateFromJSON(json);
  points.forEach((point, i) => point.set(node.getKey(), places[i], "text"));
};

/** Makes a node what its JSON says. Nodes that are in both stay, so the caret does. */
export const patch = (node, json) => {
  if (node.getType() !== json.type) {
    const fresh = parseBlock(json, idOf(node));
    node.replace(fresh);
    return fresh;
  }
  if (jsonOf(node) === JSON.stringify(json)) return node;
  if ($isTextNode(node)) {
    patchText(node, json);
    return node;
  }
  const { children, ...own } = json;
  node.updateFromJSON(own);
  if ($isElementNode(node)) patchChildren(node, children ?? []);
  return node;
};

const patchChildren = (node, list) => {
  const before = node.getChildren();
  const byID = new Map(before.filter(idOf).map((child) => [idOf(child), child]));
  const after = list.map((json) => {
    const same = byID.get(json.$?.id);
    if (same?.getType() !== json.type) return $parseSerializedNode(json);
    byID.delete(json.$.id);
    return patch(same, json);
  });
  if (after.length !== before.length || after.some((child, i) => child.getKey() !== before[i].getKey())) {
    node.splice(0, before.length, after);
  }
};
