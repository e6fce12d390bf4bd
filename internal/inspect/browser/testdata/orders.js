// A page on no framework, and marks as those of frameworks on its elements.
import { send } from './send.js';

const named = (displayName) => Object.assign(() => {}, { displayName });
const byId = (id) => document.getElementById(id);

function saveOrder() {
  send('/api/orders', { paid: true });
}

byId('save').addEventListener('click', saveOrder);
byId('list').addEventListener('click', (event) => {
  send('/api/items', { id: event.target.id });
});

byId('pay')['__reactProps$k1'] = {
  onClick: () => {
    send('/api/payments', {});
  },
  disabled: false,
};
byId('pay')['__reactFiber$k1'] = { type: 'button', return: { type: named('PayButton'), return: { type: named('Checkout') } } };
byId('bound')['__reactProps$k1'] = { onClick: saveOrder.bind(null), onMouseEnterCapture: saveOrder };
byId('vue')[Symbol('_vei')] = { onClick: { value: [function addToCart() { send('/api/cart', {}); }] } };
byId('preact').l = { clickfalse: function remove() { send('/api/cart', {}); } };
byId('svelte').__click = [function toggle() { send('/api/toggle', {}); }, 1];

console.error('orders:', 7);
fetch('/api/missing').then((response) => console.log(response.status));
fetch('http://127.0.0.1:65000/private').catch(() => console.log('refused'));
fetch('http://169.254.169.254/latest/meta-data/').catch(() => console.log('refused'));
