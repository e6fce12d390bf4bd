import { h } from 'vue';
import { log } from '../../log.js';

const Button = {
  props: ['label'],
  emits: ['press'],
  setup: (props, { emit }) => () => h('div', { class: 'box' }, [
    h('button', { onClick: () => { /*HERE*/ emit('press'); } }, props.label),
  ]),
};

export const App = () => h('section', [
  h(Button, { label: 'Leave', onPress: () => log('left') }),
  h(Button, { label: 'Save', onPress: () => log('saved') }),
]);
