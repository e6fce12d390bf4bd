// The toolbar, the shortcuts, and what they do to the text.

import {
  $createCodeNode, $createHeadingNode, $createParagraphNode, $createQuoteNode, $createTableNodeWithDimensions,
  $deleteTableColumnAtSelection, $deleteTableRowAtSelection, $findCellNode, $findTableNode, $getSelection, $insertNodes,
  $insertTableColumnAtSelection, $insertTableRowAtSelection, $isCodeNode, $isElementNode, $isHeadingNode, $isLinkNode, $isListItemNode, $isListNode,
  $isQuoteNode, $isRangeSelection, $setBlocksType, $toggleLink, COMMAND_PRIORITY_HIGH, COMMAND_PRIORITY_LOW, FORMAT_TEXT_COMMAND,
  HorizontalRuleNode, INDENT_CONTENT_COMMAND, INSERT_CHECK_LIST_COMMAND, INSERT_ORDERED_LIST_COMMAND, INSERT_UNORDERED_LIST_COMMAND,
  KEY_DOWN_COMMAND, KEY_TAB_COMMAND, OUTDENT_CONTENT_COMMAND, REDO_COMMAND, REMOVE_LIST_COMMAND, UNDO_COMMAND,
} from "./lexical.js";
import { keepID, topOf } from "./blocks.js";

const toolbar = document.getElementById("toolbar");
const kinds = document.getElementById("kind");
const inTable = toolbar?.querySelector(".in-table");
const shortcuts = document.getElementById("shortcuts");
const linkDialog = document.getElementById("link");
const address = document.getElementById("address");

const formats = ["bold", "italic", "underline", "strikethrough", "code", "highlight"];
const lists = { bullet: INSERT_UNORDERED_LIST_COMMAND, number: INSERT_ORDERED_LIST_COMMAND, check: INSERT_CHECK_LIST_COMMAND };
const blocks = {
  paragraph: $createParagraphNode, quote: $createQuoteNode, code: () => $createCodeNode(),
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, () => $createHeadingNode(`h${level}`)])),
};

const nearest = (node, is) => {
  for (let at = node; at; at = at.getParent()) if (is(at)) return at;
  return null;
};

// kindAt names the kind of block that a node is in.
const kindAt = (node) => {
  const list = nearest(node, $isListNode);
  if (list) return list.getListType();
  const heading = nearest(node, $isHeadingNode);
  if (heading) return heading.getTag();
  if (nearest(node, $isCodeNode)) return "code";
  if (nearest(node, $isQuoteNode)) return "quote";
  return nearest(node, (at) => at.getType() === "paragraph") ? "paragraph" : "other";
};

/** An address that may be linked to; "" for none. */
export const cleanAddress = (text) => {
  const trimmed = text.trim();
  if (/^(https?:|mailto:)/i.test(trimmed) || /^\/(?!\/)/.test(trimmed)) return trimmed;
  return /^[\w-]+(\.[\w-]+)+([/?#].*)?$/.test(trimmed) ? `https://${trimmed}` : "";
};

export const registerTools = (editor) => {
  let current = "paragraph";
  const focus = () => editor.focus();

  const setKind = (kind) => {
    if (lists[kind]) {
      editor.dispatchCommand(current === kind ? REMOVE_LIST_COMMAND : lists[kind]);
      return;
    }
    if (lists[current]) editor.dispatchCommand(REMOVE_LIST_COMMAND);
    editor.update(() => {
      const selection = $getSelection();
      if ($isRangeSelection(selection)) $setBlocksType(selection, blocks[kind], keepID);
    });
  };

  // insert puts a block behind the one that the caret is in.
  const insert = (make) => editor.update(() => {
    const selection = $getSelection();
    if (!$isRangeSelection(selection)) return;
    const made = make();
    $insertNodes([made]);
    if (!made.getNextSibling() && made.getParent()) made.insertAfter($createParagraphNode());
    if ($isElementNode(made)) made.getFirstDescendant()?.selectStart?.();
    else made.getNextSibling()?.selectStart?.();
  });

  const openLink = () => {
    const at = editor.read(() => {
      const selection = $getSelection();
      if (!$isRangeSelection(selection)) return null;
      const link = nearest(selection.anchor.getNode(), $isLinkNode);
      return { url: link?.getURL() ?? "", empty: !link && selection.isCollapsed() };
    });
    if (!at || at.empty) {
      editor.tell("Select the text that is to be a link.");
      focus();
      return;
    }
    address.value = at.url;
    linkDialog.returnValue = "cancel";
    linkDialog.showModal();
    address.select();
  };
  linkDialog.querySelector("form").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target !== address) return;
    event.preventDefault();
    linkDialog.close("set");
  });
  linkDialog.addEventListener("close", () => {
    focus();
    const url = cleanAddress(address.value);
    if (linkDialog.returnValue === "remove") editor.update(() => $toggleLink(null));
    if (linkDialog.returnValue !== "set") return;
    if (url) editor.update(() => $toggleLink(url));
    else editor.tell("This is no address of a web page or of an e-mail.");
  });

  const actions = {
    undo: () => editor.dispatchCommand(UNDO_COMMAND),
    redo: () => editor.dispatchCommand(REDO_COMMAND),
    link: openLink,
    indent: () => editor.dispatchCommand(INDENT_CONTENT_COMMAND),
    outdent: () => editor.dispatchCommand(OUTDENT_CONTENT_COMMAND),
    table: () => insert(() => $createTableNodeWithDimensions(3, 3, { rows: true, columns: false })),
    rule: () => insert(() => new HorizontalRuleNode()),
    "row-above": () => editor.update(() => $insertTableRowAtSelection(false)),
    "row-below": () => editor.update(() => $insertTableRowAtSelection(true)),
    "column-before": () => editor.update(() => $insertTableColumnAtSelection(false)),
    "column-after": () => editor.update(() => $insertTableColumnAtSelection(true)),
    "row-delete": () => editor.update(() => $deleteTableRowAtSelection()),
    "column-delete": () => editor.update(() => $deleteTableColumnAtSelection()),
    "table-delete": () => editor.update(() => {
      const table = $findTableNode($getSelection()?.getNodes()[0]);
      table?.selectNext();
      table?.remove();
    }),
    tick: () => editor.update(() => {
      const selection = $getSelection();
      const item = $isRangeSelection(selection) ? nearest(selection.anchor.getNode(), $isListItemNode) : null;
      item?.toggleChecked();
    }),
    help: () => shortcuts.showModal(),
    ...Object.fromEntries(formats.map((format) => [format, () => editor.dispatchCommand(FORMAT_TEXT_COMMAND, format)])),
    ...Object.fromEntries([...Object.keys(lists), ...Object.keys(blocks).filter((kind) => kind !== "code")].map((kind) => [kind, () => setKind(kind)])),
  };

  document.addEventListener("click", (event) => {
    const action = event.target.closest("[data-do]")?.dataset.do;
    if (!action) return;
    if (action !== "help" && action !== "link") focus();
    actions[action]();
  });
  kinds.addEventListener("change", () => {
    focus();
    setKind(kinds.value);
  });
  toolbar.addEventListener("mousedown", (event) => {
    if (event.target.closest("button")) event.preventDefault(); // the selection in the text stays
  });

  registerToolbarKeys(focus);
  registerKeys(editor, actions, () => current);

  const show = () => editor.read(() => {
    const selection = $getSelection();
    if (!$isRangeSelection(selection)) return;
    const node = selection.anchor.getNode();
    current = kindAt(node);
    kinds.value = current;
    const pressed = new Set([...formats.filter((format) => selection.hasFormat(format)), current === "code" ? "" : current]);
    if (nearest(node, $isLinkNode)) pressed.add("link");
    for (const button of toolbar.querySelectorAll("[aria-pressed]")) button.ariaPressed = String(pressed.has(button.dataset.do));
    const isTable = $findCellNode(node) !== null;
    if (inTable.hidden === isTable) inTable.hidden = !isTable;
  });
  editor.registerUpdateListener(show);
  return {
    showUndo: ({ undo, redo }) => {
      for (const [name, can] of [["undo", undo], ["redo", redo]]) toolbar.querySelector(`[data-do=${name}]`).ariaDisabled = can ? null : "true";
    },
  };
};

// In the toolbar arrows move, and one control alone is in the order of tabs.
const registerToolbarKeys = (leave) => {
  const controls = () => [...toolbar.querySelectorAll("button, select")].filter((control) => control.checkVisibility());
  const enter = (control) => {
    for (const other of toolbar.querySelectorAll("button, select")) other.tabIndex = other === control ? 0 : -1;
  };
  enter(controls()[0]);
  toolbar.addEventListener("focusin", (event) => {
    enter(event.target);
    event.target.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  toolbar.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
    const all = controls();
    const at = all.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length].focus();
  });
};

const registerKeys = (editor, actions, current) => {
  const shifted = { KeyS: "strikethrough", KeyH: "highlight", Digit7: "number", Digit8: "bullet", Digit9: "check" };
  const find = (event) => {
    if (event.altKey && event.key === "F10") return () => toolbar.querySelector('[tabindex="0"]').focus();
    if (!(event.ctrlKey || event.metaKey)) return null;
    if (event.altKey) {
      const level = /^Digit([0-6])$/.exec(event.code)?.[1];
      return level === undefined ? null : actions[level === "0" ? "paragraph" : `h${level}`];
    }
    if (event.shiftKey) return actions[shifted[event.code]];
    if (event.key === "Enter" && current() === "check") return actions.tick;
    return { k: actions.link, e: actions.code, "/": actions.help }[event.key];
  };
  editor.registerCommand(KEY_DOWN_COMMAND, (event) => {
    const action = find(event);
    if (!action) return false;
    event.preventDefault();
    action();
    return true;
  }, COMMAND_PRIORITY_HIGH);
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || !(event.ctrlKey || event.metaKey) || event.key !== "/") return;
    event.preventDefault();
    actions.help();
  });
  // Tab leaves the text, but in lists; tables take it themselves.
  editor.registerCommand(KEY_TAB_COMMAND, (event) => {
    if (!["bullet", "number", "check"].includes(current())) return false;
    event.preventDefault();
    return editor.dispatchCommand(event.shiftKey ? OUTDENT_CONTENT_COMMAND : INDENT_CONTENT_COMMAND);
  }, COMMAND_PRIORITY_LOW);
};
