import { log } from '../../log.js';
const root = document.getElementById('root');

root.innerHTML = '<main><h1>Shop</h1><button id="save">Save</button><button id="leave">Leave</button></main>';
document.getElementById('save').addEventListener('click', () => { /*HERE*/ log('saved'); });
document.getElementById('leave').addEventListener('click', () => { log('left'); });
