// An app on the npm package socket.io-client: app.cjs ADDRESS CHANNEL TRANSPORTS. It answers with what
// stands in its input, {"GET_WIDGET_TREE": …}, and prints "joined" and the calls that come.
const { io } = require('socket.io-client');
const { createInterface } = require('node:readline');

const [address, channelId, transports] = process.argv.slice(2);
let answers = {};
createInterface({ input: process.stdin })
  .on('line', (line) => { answers = JSON.parse(line); start(); })
  .on('close', () => process.exit(0));

function start() {
  const socket = io(address, { path: '/wavepulse/socket.io', transports: transports.split(',') });
  const tell = (name, data) => socket.emit('message', { channelId, type: 'event', name, data });
  socket.on('connect', () => {
    socket.emit('join', { channelId });
    tell('joined', []);
  });
  socket.io.engine.on('upgrade', (transport) => console.log('upgraded to ' + transport.name));
  socket.on('message', (m) => {
    if (m.name === 'joined') console.log('joined');
    if (m.type !== 'call') return;
    const { target } = m.data[0];
    console.log('called ' + target);
    if (target === 'SAY_HELLO') tell('timeline-event', [{ name: 'PAGE_READY', data: { name: 'Main' } }]);
    if (target in answers) tell(m.name, answers[target]);
  });
}
