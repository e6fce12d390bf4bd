import { log } from '../../log.js';
const root = document.getElementById('root');

const makeHandler = (id) => {
  const began = Date.now();
  return () => { /*HERE*/
    log(id + began);
  };
};
for (const name of ['Save', 'Leave']) {
  const button = document.createElement('button');
  button.append(name);
  button.addEventListener('click', makeHandler(name));
  root.append(button);
}
