import { log } from '../../log.js';

class Checkout {
  #saved = 0;

  constructor(root) {
    this.leave = this.leave.bind(this);
    this.save = this.save.bind(this);
    for (const [name, handler] of [['Leave', this.leave], ['Save', this.save]]) {
      const button = document.createElement('button');
      button.textContent = name;
      button.addEventListener('click', handler, { passive: true });
      root.append(button);
    }
  }

  leave() {
    log('left');
  }

  async save() { /*HERE*/
    this.#saved += 1;
    log('saved ' + this.#saved);
  }
}

new Checkout(document.getElementById('root'));
