import { h } from 'vue';
import { log } from '../../log.js';

const makeHandler = (id) => {
  const began = Date.now();
  return () => { /*HERE*/
    log(id + began);
  };
};

export const App = () => h('p', ['Save', 'Leave'].map((name) => h('button', { onClick: makeHandler(name) }, name)));
