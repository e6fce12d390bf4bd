import { log } from '../../log.js';
const root = document.getElementById('root');

let count = 0;
function handleLeave() {
  log('left');
}
function handleSave() { /*HERE*/
  count++;
  log('saved' + count);
}
root.innerHTML = '<form><button type="button" id="leave">Leave</button><button type="button" id="save">Save</button></form>';
document.getElementById('leave').addEventListener('click', handleLeave);
document.getElementById('save').addEventListener('click', handleSave);
