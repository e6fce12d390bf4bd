import { log } from '../../log.js';
const root = document.getElementById('root');

root.innerHTML = '<ul><li><button>Save</button></li><li><button>Leave</button></li></ul>';
root.firstChild.addEventListener('click', (event) => { /*HERE*/
  log(event.target.textContent);
});
