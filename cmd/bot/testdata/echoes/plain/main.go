// Plain is a bot that echoes mentions, on slack-go and net/http alone: nothing is durable,
// unless ECHO_DURABLE is set: then a ledger in Redis is. The load on Cairn is measured beside
// both. It takes Cairn's variables and says what Cairn says once it is ready.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
)

func main() {
	if os.Args[1] != "serve" { // there is nothing to prepare
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", os.Getenv("CAIRN_SLACK_LISTEN"))
	if err != nil {
		log.Fatal(err)
	}
	b := &bot{ctx: ctx, api: slack.New(os.Getenv("CAIRN_SLACK_BOT_TOKEN"), slack.OptionAPIURL(os.Getenv("CAIRN_SLACK_API_URL")), slack.OptionHTTPClient(&http.Client{
		Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256},
	}))}
	if os.Getenv("ECHO_DURABLE") != "" {
		if b.ledger, err = openLedger(ctx); err != nil {
			log.Fatal(err)
		}
		b.ledger.work(b)
		defer b.ledger.working.Wait()
	}
	server := &http.Server{Handler: http.HandlerFunc(b.hear), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	fmt.Printf("Listening to Slack at http://%s/slack/\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}

type bot struct {
	ctx    context.Context
	api    *slack.Client
	ledger *ledger // nil: nothing is durable
}

// hear acknowledges an event and answers it afterwards, as bots do; with a ledger it
// acknowledges what is kept.
func (b *bot) hear(out http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = verify(request.Header, body)
	}
	if err != nil {
		http.Error(out, err.Error(), http.StatusUnauthorized)
		return
	}
	event, err := slackevents.ParseEvent(json.RawMessage(body), slackevents.OptionNoVerifyToken())
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	if asked, ok := event.Data.(*slackevents.EventsAPIURLVerificationEvent); ok {
		fmt.Fprint(out, asked.Challenge)
		return
	}
	mention, ok := event.InnerEvent.Data.(*slackevents.AppMentionEvent)
	switch {
	case !ok:
	case b.ledger == nil:
		go b.echo(mention)
	default:
		if err := b.ledger.keep(request.Context(), mention); err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
		}
	}
}

func verify(header http.Header, body []byte) error {
	verifier, err := slack.NewSecretsVerifier(header, os.Getenv("CAIRN_SLACK_SIGNING_SECRET"))
	if err != nil {
		return err
	}
	if _, err := verifier.Write(body); err != nil {
		return err
	}
	return verifier.Ensure()
}

func (b *bot) echo(mention *slackevents.AppMentionEvent) {
	_, _, err := b.api.PostMessageContext(b.ctx, mention.Channel, slack.MsgOptionText(mention.Text, false), slack.MsgOptionTS(mention.TimeStamp))
	if err != nil {
		log.Print(err)
	}
}
