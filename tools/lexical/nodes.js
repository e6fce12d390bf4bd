// The kinds of nodes that a page has, beside those that every Lexical editor knows.
import {CodeHighlightNode, CodeNode} from '@lexical/code-core';
import {AutoLinkNode, LinkNode} from '@lexical/link';
import {ListItemNode, ListNode} from '@lexical/list';
import {HeadingNode, QuoteNode} from '@lexical/rich-text';
import {TableCellNode, TableNode, TableRowNode} from '@lexical/table';
import {DecoratorNode} from 'lexical';

// HorizontalRuleNode is a rule between blocks, as Lexical's playground has it.
export class HorizontalRuleNode extends DecoratorNode {
  static getType() { return 'horizontalrule'; }
  static clone(node) { return new HorizontalRuleNode(node.__key); }
  static importJSON(json) { return new HorizontalRuleNode().updateFromJSON(json); }
  createDOM() { return document.createElement('hr'); }
  updateDOM() { return false; }
  getTextContent() { return '\n'; }
  isInline() { return false; }
}

// ImageNode is a picture in a line of text.
export class ImageNode extends DecoratorNode {
  __src = '';
  __altText = '';
  __width = 0;
  __height = 0;
  static getType() { return 'image'; }
  static clone(node) { return new ImageNode(node.__key); }
  static importJSON(json) { return new ImageNode().updateFromJSON(json); }
  afterCloneFrom(node) {
    super.afterCloneFrom(node);
    Object.assign(this, {__src: node.__src, __altText: node.__altText, __width: node.__width, __height: node.__height});
  }
  updateFromJSON(json) {
    const self = super.updateFromJSON(json).getWritable();
    const text = (value) => (typeof value === 'string' ? value : '');
    const number = (value) => (typeof value === 'number' ? value : 0);
    Object.assign(self, {__src: text(json.src), __altText: text(json.altText), __width: number(json.width), __height: number(json.height)});
    return self;
  }
  exportJSON() {
    const self = this.getLatest();
    return {altText: self.__altText, height: self.__height, src: self.__src, width: self.__width, ...super.exportJSON()};
  }
  createDOM() {
    const shown = document.createElement('span');
    shown.className = 'image';
    const own = this.__src.startsWith('/') && !this.__src.startsWith('//');
    const part = document.createElement(own ? 'img' : 'span');
    if (own) {
      part.src = this.__src;
      part.alt = this.__altText;
    } else { // no request leaves for another site
      part.textContent = `Picture: ${this.__altText || this.__src}`;
    }
    shown.append(part);
    return shown;
  }
  getTextContent() { return this.getLatest().__altText; }
  updateDOM() { return false; }
  isInline() { return true; }
}

// UnknownNode stands for a node of a kind that nobody here knows, and keeps it as it is.
export class UnknownNode extends DecoratorNode {
  __raw = '';
  static getType() { return 'unknown'; }
  static clone(node) { return new UnknownNode(node.__key); }
  static importJSON(json) { return new UnknownNode().updateFromJSON(json); }
  afterCloneFrom(node) {
    super.afterCloneFrom(node);
    this.__raw = node.__raw;
  }
  updateFromJSON(json) {
    const self = super.updateFromJSON(json).getWritable();
    self.__raw = typeof json.raw === 'string' ? json.raw : '';
    return self;
  }
  exportJSON() { return {raw: this.getLatest().__raw, ...super.exportJSON()}; }
  createDOM() {
    const shown = document.createElement('div');
    shown.className = 'unknown';
    shown.textContent = 'A block of a kind that this editor does not show. It is kept as it is.';
    return shown;
  }
  updateDOM() { return false; }
  isInline() { return false; }
}

export const nodes = [
  HeadingNode, QuoteNode, ListNode, ListItemNode, LinkNode, AutoLinkNode, CodeNode, CodeHighlightNode,
  TableNode, TableRowNode, TableCellNode, HorizontalRuleNode, ImageNode, UnknownNode,
];
