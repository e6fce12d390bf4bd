import { log } from '../../log.js';

export function leave() {
  log('left');
}

export const save = async () => { /*HERE*/
  log('saved');
};
