// A bot that echoes mentions, on Bolt: nothing is durable. The load on Cairn is measured
// beside it. It takes Cairn's variables and says what Cairn says once it is ready.
import bolt from '@slack/bolt';

const receiver = new bolt.HTTPReceiver({ signingSecret: process.env.CAIRN_SLACK_SIGNING_SECRET, endpoints: ['/slack/events'] });
const app = new bolt.App({
  token: process.env.CAIRN_SLACK_BOT_TOKEN,
  receiver,
  clientOptions: { slackApiUrl: process.env.CAIRN_SLACK_API_URL },
});
app.event('app_mention', ({ event, client }) =>
  client.chat.postMessage({ channel: event.channel, thread_ts: event.ts, text: event.text }));

const [host, port] = process.env.CAIRN_SLACK_LISTEN.split(':');
const server = await app.start({ host, port: Number(port) });
console.log(`Listening to Slack at http://${host}:${server.address().port}/slack/`);
process.on('SIGTERM', () => process.exit(0));
