// A relay on the npm package socket.io. It prints its port.
const { createServer } = require('node:http');
const { Server } = require('socket.io');

const http = createServer();
const io = new Server(http, { path: '/wavepulse/socket.io', maxHttpBufferSize: 64e6, pingInterval: 300, pingTimeout: 2000 });
io.on('connection', (socket) => {
  socket.on('join', ({ channelId }) => socket.join(channelId));
  socket.on('message', (m) => io.to(m.channelId).emit('message', m));
});
http.listen(0, '127.0.0.1', () => console.log(http.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
