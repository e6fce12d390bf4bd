import { useOrder } from './use-order.js';

export function App() {
  const order = useOrder(7);
  return (
    <main>
      <button onClick={order.leave}>Leave</button>
      <button onClick={order.save} disabled={order.saved}>Save</button>
    </main>
  );
}
