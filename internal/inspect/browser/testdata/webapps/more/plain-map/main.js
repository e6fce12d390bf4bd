import { handlers } from './handlers.js';

const root = document.getElementById('root');
root.innerHTML = '<button data-do="leave">Leave</button><button data-do="save">Save</button>';
for (const button of root.querySelectorAll('button')) {
  button.onclick = handlers.get(button.dataset.do);
}
