import { log } from '../../log.js';

export const App = () => (
  <main>
    <h1>Shop</h1>
    <button onClick={() => { /*HERE*/ log('saved'); }}>Save</button>
    <button onClick={() => { log('left'); }}>Leave</button>
  </main>
);
