import { log } from '../../log.js';

const items = ['Save', 'Leave'];

export const App = () => (
  <ul
    onClick={(event) => { /*HERE*/
      log(event.target.textContent);
    }}
  >
    {items.map((item) => <li key={item}><button>{item}</button></li>)}
  </ul>
);
