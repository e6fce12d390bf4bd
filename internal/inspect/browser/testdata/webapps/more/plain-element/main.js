import { log } from '../../log.js';

class SaveBar extends HTMLElement {
  connectedCallback() {
    const shadow = this.attachShadow({ mode: 'open' });
    shadow.innerHTML = '<button id="leave">Leave</button><button id="save">Save</button>';
    shadow.getElementById('leave').addEventListener('click', () => log('left'));
    shadow.getElementById('save').addEventListener('click', (event) => { /*HERE*/
      event.stopPropagation();
      log('saved');
    });
  }
}

customElements.define('save-bar', SaveBar);
document.getElementById('root').append(document.createElement('save-bar'));
