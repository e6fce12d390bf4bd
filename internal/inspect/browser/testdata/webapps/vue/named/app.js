import { h, ref } from 'vue';
import { log } from '../../log.js';

export const App = {
  setup() {
    const count = ref(0);
    function handleLeave() {
      log('left');
    }
    function handleSave() { /*HERE*/
      count.value++;
      log('saved');
    }
    return () => h('form', [h('button', { type: 'button', onClick: handleLeave }, 'Leave'), h('button', { type: 'button', onClick: handleSave }, 'Save'), count.value]);
  },
};
