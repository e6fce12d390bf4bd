import { leave, save } from './actions.js';

const root = document.getElementById('root');
root.innerHTML = '<p><button id="leave">Leave</button><button id="save">Save</button></p>';
document.getElementById('leave').addEventListener('click', leave);
document.getElementById('save').addEventListener('click', save);
