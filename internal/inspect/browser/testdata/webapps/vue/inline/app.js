import { h } from 'vue';
import { log } from '../../log.js';

export const App = () => h('main', [
  h('h1', 'Shop'),
  h('button', { onClick: () => { /*HERE*/ log('saved'); } }, 'Save'),
  h('button', { onClick: () => { log('left'); } }, 'Leave'),
]);
