import { log } from '../../log.js';
const root = document.getElementById('root');

class Button {
  constructor(label, onPress) {
    this.element = document.createElement('button');
    this.element.append(label);
    this.element.onclick = onPress;
  }
}

root.append(
  new Button('Leave', () => log('left')).element,
  new Button('Save', () => { /*HERE*/
    log('saved');
  }).element,
);
