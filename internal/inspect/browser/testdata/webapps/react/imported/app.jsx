import { leave, save } from './actions.js';

export const App = () => <p><button onClick={leave}>Leave</button><button onClick={save}>Save</button></p>;
