import { log } from '../../log.js';
import { useState } from 'react';

export function App() {
  const [count, setCount] = useState(0);
  function handleLeave() {
    log('left');
  }
  function handleSave() { /*HERE*/
    setCount(count + 1);
    log('saved');
  }
  return <form><button type="button" onClick={handleLeave}>Leave</button><button type="button" onClick={handleSave}>Save</button>{count}</form>;
}
