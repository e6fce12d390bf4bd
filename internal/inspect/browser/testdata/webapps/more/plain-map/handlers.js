import { log } from '../../log.js';

const makeLogged = {
  leave() {
    log('left');
  },

  save(event) { /*HERE*/
    event.preventDefault();
    log('saved');
  },
};

export const handlers = new Map(Object.entries(makeLogged));
