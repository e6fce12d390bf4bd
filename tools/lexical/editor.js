// What the page editor in the browser uses of Lexical, as one module.
export {
  $createParagraphNode, $createRangeSelection, $createTextNode, $exportNodeJSON, $getNodeByKey, $getRoot, $getSelection, $getState, $insertNodes,
  $isDecoratorNode, $isElementNode, $isNodeSelection, $isRangeSelection, $isRootNode, $isRootOrShadowRoot, $isTextNode, $parseSerializedNode, $setSelection,
  $setState, COLLABORATION_TAG, COMMAND_PRIORITY_EDITOR, COMMAND_PRIORITY_HIGH, COMMAND_PRIORITY_LOW, createEditor, createState,
  FORMAT_TEXT_COMMAND, INDENT_CONTENT_COMMAND, KEY_DOWN_COMMAND, KEY_TAB_COMMAND, LineBreakNode, OUTDENT_CONTENT_COMMAND, REDO_COMMAND, SELECTION_CHANGE_COMMAND,
  SKIP_DOM_SELECTION_TAG, SKIP_SCROLL_INTO_VIEW_TAG, TabNode, TextNode, UNDO_COMMAND,
} from 'lexical';
export {$createCodeNode, $isCodeNode} from '@lexical/code-core';
export {$isLinkNode, $toggleLink, LinkNode} from '@lexical/link';
export {
  $isListItemNode, $isListNode, INSERT_CHECK_LIST_COMMAND, INSERT_ORDERED_LIST_COMMAND, INSERT_UNORDERED_LIST_COMMAND, ListItemNode, registerCheckList, registerList,
  REMOVE_LIST_COMMAND,
} from '@lexical/list';
export {CHECK_LIST, registerMarkdownShortcuts, TRANSFORMERS} from '@lexical/markdown';
export {$createHeadingNode, $createQuoteNode, $isHeadingNode, $isQuoteNode, registerRichText} from '@lexical/rich-text';
export {$setBlocksType} from '@lexical/selection';
export {
  $createTableNodeWithDimensions, $deleteTableColumnAtSelection, $deleteTableRowAtSelection, $findCellNode, $findTableNode, $insertTableColumnAtSelection,
  $insertTableRowAtSelection, registerTablePlugin, registerTableSelectionObserver,
} from '@lexical/table';
export {HorizontalRuleNode, nodes} from './nodes.js';
