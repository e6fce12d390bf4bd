import { log } from '../../log.js';

document.getElementById('root').innerHTML = '<nav><span><button data-action="leave">Leave</button><button data-action="save"><b>Save</b></button></span></nav>';

const actions = {
  leave: () => log('left'),
  save: () => log('saved'),
};

function dispatch(event) { /*HERE*/
  const target = event.target.closest('[data-action]');
  if (target) actions[target.dataset.action](event);
}

document.body.addEventListener('click', dispatch);
