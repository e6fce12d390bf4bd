import { computed, ref } from 'vue';
import { log } from '../../log.js';

export const useOrder = () => {
  const saved = ref(0);
  const label = computed(() => (saved.value > 9 ? 'Saved' : 'Save'));

  const leave = () => log('left');

  async function save() { /*HERE*/
    saved.value += 1;
    log('saved');
  }

  return { label, leave, save };
};
