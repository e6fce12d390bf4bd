import { h } from 'vue';
import { log } from '../../log.js';

const items = ['Save', 'Leave'];

export const App = () => h('ul', {
  onClick: (event) => { /*HERE*/
    log(event.target.textContent);
  },
}, items.map((item) => h('li', [h('button', item)])));
