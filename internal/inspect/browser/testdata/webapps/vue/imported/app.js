import { h } from 'vue';

import { leave, save } from './actions.js';

export const App = () => h('p', [h('button', { onClick: leave }, 'Leave'), h('button', { onClick: save }, 'Save')]);
