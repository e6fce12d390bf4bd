package main

import (
	"context"
	"errors"
	"log"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
)

// ledger keeps what a bot must keep to answer once what it acknowledged, and no more: who
// has the thread, what is about to be posted, and what was. It is written in four round
// trips a mention. Its workers take threads over from nobody: it shows what the promise
// costs at the least, and does not keep it.
type ledger struct {
	client  *redis.Client
	working sync.WaitGroup
}

// accept keeps a mention that did not come before.
var accept = redis.NewScript(`
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', 86400000) then return 0 end
redis.call('XADD', KEYS[2], '*', 'channel', ARGV[1], 'thread', ARGV[2], 'text', ARGV[3])
return 1`)

// intend takes the thread for ten seconds and keeps what is to be posted.
var intend = redis.NewScript(`
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 10000) then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', 2592000000)
return 1`)

// done keeps what was posted as what was said in the thread, and leaves the thread.
var done = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('LOST') end
redis.call('SET', KEYS[3], ARGV[2], 'PX', 2592000000)
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('XACK', KEYS[4], 'workers', ARGV[1])
redis.call('XDEL', KEYS[4], ARGV[1])
return 1`)

const queue = "echo:queue"

func openLedger(ctx context.Context) (*ledger, error) {
	options, err := redis.ParseURL(os.Getenv("CAIRN_REDIS_URL"))
	if err != nil {
		return nil, err
	}
	options.PoolSize = 64
	l := &ledger{client: redis.NewClient(options)}
	return l, l.client.XGroupCreateMkStream(ctx, queue, "workers", "0").Err()
}

func (l *ledger) keep(ctx context.Context, mention *slackevents.AppMentionEvent) error {
	return accept.Run(ctx, l.client, []string{"echo:seen:" + mention.Channel + mention.TimeStamp, queue},
		mention.Channel, mention.TimeStamp, mention.Text).Err()
}

// work answers what is kept, with as many workers as Cairn has.
func (l *ledger) work(b *bot) {
	for range 8 {
		l.working.Go(func() {
			for b.ctx.Err() == nil {
				streams, err := l.client.XReadGroup(b.ctx, &redis.XReadGroupArgs{
					Group: "workers", Consumer: "one", Streams: []string{queue, ">"}, Count: 1, Block: 250 * time.Millisecond,
				}).Result()
				if err == nil {
					err = l.answer(b, streams[0].Messages[0])
				}
				if err != nil && !errors.Is(err, redis.Nil) && b.ctx.Err() == nil {
					log.Print(err)
				}
			}
		})
	}
}

func (l *ledger) answer(b *bot, kept redis.XMessage) error {
	channel, thread, text := kept.Values["channel"].(string), kept.Values["thread"].(string), kept.Values["text"].(string)
	lease, outbox, session := "echo:lease:"+channel+thread, "echo:outbox:"+channel+thread, "echo:session:"+channel+thread
	if err := intend.Run(b.ctx, l.client, []string{lease, outbox}, kept.ID, text).Err(); err != nil {
		return err
	}
	_, posted, err := b.api.PostMessageContext(b.ctx, channel, slack.MsgOptionText(text, false), slack.MsgOptionTS(thread))
	if err != nil {
		return err
	}
	return done.Run(b.ctx, l.client, []string{lease, outbox, session, queue}, kept.ID, posted+" "+text).Err()
}
