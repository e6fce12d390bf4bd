// normalize gives the JSON that the real Lexical makes of a page's JSON. Tests of the Go package
// compare with it.
import {createHeadlessEditor} from '@lexical/headless';
import {nodes} from './nodes.js';

globalThis.normalize = function (text) {
  let failure = null;
  const editor = createHeadlessEditor({nodes, onError(error) { failure = error; }});
  const state = editor.parseEditorState(text);
  if (failure) throw failure;
  editor.setEditorState(state);
  return JSON.stringify(editor.getEditorState());
};
