import { forwardRef, memo, useReducer } from 'react';
import { log } from '../../log.js';

const Base = forwardRef(({ tone, ...rest }, ref) => <button ref={ref} className={tone} {...rest} />);
const Action = memo(function Action({ onActivate, children, ...rest }) {
  return <Base {...rest} onClick={onActivate}><span>{children}</span></Base>;
});

export function App() {
  const [count, add] = useReducer((now) => now + 1, 0);

  function handleActivate(name) {
    return function (event) { /*HERE*/
      event.preventDefault();
      add();
      log(name + count);
    };
  }

  return (
    <p>
      <Action tone="dull" onActivate={() => log('left')}>Leave</Action>
      <Action tone="bright" onActivate={handleActivate('save')}>Save</Action>
    </p>
  );
}
