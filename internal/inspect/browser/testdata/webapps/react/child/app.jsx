import { log } from '../../log.js';

const Button = ({ label, onPress }) => (
  <div className="box">
    <button onClick={onPress}>{label}</button>
  </div>
);

export function App() {
  return (
    <section>
      <Button label="Leave" onPress={() => log('left')} />
      <Button
        label="Save"
        onPress={() => { /*HERE*/
          log('saved');
        }}
      />
    </section>
  );
}
