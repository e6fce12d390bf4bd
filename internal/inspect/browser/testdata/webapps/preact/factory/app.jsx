import { log } from '../../log.js';

const makeHandler = (id) => {
  const began = Date.now();
  return () => { /*HERE*/
    log(id + began);
  };
};

export function App() {
  return <p>{['Save', 'Leave'].map((name) => <button key={name} onClick={makeHandler(name)}>{name}</button>)}</p>;
}
