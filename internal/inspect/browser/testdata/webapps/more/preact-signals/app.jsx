import { computed, signal } from '@preact/signals';
import { log } from '../../log.js';

const saved = signal(0);
const label = computed(() => (saved.value > 9 ? 'Saved' : 'Save'));

const orders = {
  leave: () => log('left'),
  save: () => { /*HERE*/
    saved.value += 1;
    log('saved');
  },
};

export const App = () => (
  <section>
    <button onClick={orders.leave}>Leave</button>
    <button onClick={orders.save}>{label}</button>
  </section>
);
