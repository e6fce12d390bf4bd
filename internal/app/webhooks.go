package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-bot/cairn/internal/adapters/web"
	"github.com/cairn-bot/cairn/internal/chat/webhook"
	"github.com/cairn-bot/cairn/internal/config"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/connect/forge"
	"github.com/cairn-bot/cairn/internal/listen"
)

// maxTold is how many events of a source are kept until it is read. Of more, all of it is looked at.
const maxTold = 500

// toldEvents are what forges told of since their sources were read.
type toldEvents struct {
	mu   sync.Mutex
	told map[knowledge.SourceID][]forge.Event
}

// add notes an event.
func (d *toldEvents) add(source knowledge.SourceID, events ...forge.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told == nil {
		d.told = make(map[knowledge.SourceID][]forge.Event)
	}
	for _, event := range events {
		switch told := d.told[source]; {
		case slices.Contains(told, event):
		case len(told) >= maxTold:
			d.told[source] = []forge.Event{{}}
		default:
			d.told[source] = append(told, event)
		}
	}
}

// take gives the events of a source, which is read now. Who could not read it adds them again.
func (d *toldEvents) take(source knowledge.SourceID) []forge.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	told := d.told[source]
	delete(d.told, source)
	return told
}

// webhooks receives what forges tell of changes.
type webhooks struct {
	list    func() ([]config.Source, error)
	told    *toldEvents
	changed func(knowledge.SourceID) // the source is read soon
	refused *webhook.RefusalLog
	setup   Setup
}

// hooksPath is where deliveries of a source are received.
const hooksPath = "/hooks/{source}"

func (h *webhooks) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+hooksPath, h.receive)
	return mux
}

// receive takes one delivery. A source that takes none is not told apart from one that is not there.
func (h *webhooks) receive(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	configured, err := h.list()
	if err != nil {
		h.setup.Logger.WarnContext(ctx, "receive a webhook", "error", err)
	}
	at := slices.IndexFunc(configured, func(s config.Source) bool { return s.Name == r.PathValue("source") })
	if at < 0 || configured[at].WebhookKey.Secret.Reveal() == "" {
		http.NotFound(w, r)
		return
	}
	source := configured[at]
	kind := forge.Kind(source.Kind)
	body, status, err := webhook.Body(w, r, func(header http.Header, body []byte) error {
		return forge.VerifyDelivery(kind, source.WebhookKey.Secret.Reveal(), header, body)
	})
	if err != nil {
		h.refused.Refused(ctx, r.URL.Path, status, err)
		w.WriteHeader(status)
		return
	}
	event, ok, err := forge.ReadEvent(kind, r.Header, body)
	if err != nil {
		h.setup.Logger.WarnContext(ctx, "receive a webhook", "source", source.Name, "error", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
	if !ok || source.IsPaused() {
		return
	}
	h.setup.Logger.DebugContext(ctx, "receive a webhook", "source", source.Name, "repository", event.Repository, "part", event.Part, "key", event.Key)
	h.told.add(knowledge.SourceID(source.Name), event)
	h.changed(knowledge.SourceID(source.Name))
}

// startWebhooks receives deliveries, where an address is set for them, until ctx ends.
func startWebhooks(ctx context.Context, parts *errgroup.Group, h *webhooks, out io.Writer) error {
	address := h.setup.Config.Webhooks.Listen
	if address == "" {
		return nil
	}
	listener, err := listen.TCP(ctx, address)
	if err != nil {
		return listen.WithRemedy(fmt.Errorf("listen for webhooks: %w", err), "webhooks.listen")
	}
	h.refused = webhook.NewRefusalLog(h.setup.Logger, "webhook refused")
	parts.Go(func() error {
		h.refused.Run(ctx)
		return nil
	})
	parts.Go(func() error { return web.Serve(ctx, listener, h.handler(), h.setup.Logger) })
	_, err = fmt.Fprintf(out, "Webhooks at http://%s/hooks/\n", listener.Addr())
	return err
}
