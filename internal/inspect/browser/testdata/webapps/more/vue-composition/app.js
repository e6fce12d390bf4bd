import { defineComponent, h, withModifiers } from 'vue';
import { useOrder } from './use-order.js';

const AppButton = defineComponent({
  inheritAttrs: true,
  setup: (_, { slots }) => () => h('button', { type: 'button' }, slots.default()),
});

export const App = defineComponent({
  setup() {
    const { label, leave, save } = useOrder();
    return () => h('form', [
      h(AppButton, { onClick: withModifiers(leave, ['prevent']) }, () => 'Leave'),
      h(AppButton, { onClick: save }, () => label.value),
    ]);
  },
});
