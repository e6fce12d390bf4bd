package browser

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// Time limits of what is watched after a press.
const (
	pressLimit = 8 * time.Second
	quietTime  = 700 * time.Millisecond // without a new request, and with none that waits
)

// Press is what a page did when a control was pressed.
type Press struct {
	Done     bool              `json:"done"`               // else Problems says why not
	Address  string            `json:"address,omitempty"`  // of the page afterwards, where that is another one
	Requests []inspect.Request `json:"requests,omitempty"` // that were sent since
	Messages []inspect.Message `json:"messages,omitempty"`
	Problem  string            `json:"problem,omitempty"`
}

// coversFunction tells whether an element is what a person hits at a place.
const coversFunction = `function (x, y) {
  const at = document.elementFromPoint(x, y);
  return !!at && (this === at || this.contains(at) || at.contains(this) || at.closest('label')?.control === this);
}`

// press clicks the control of a view, in its middle, and watches the page until it is quiet.
func (l *look) press(ctx context.Context, view *View) error {
	view.Pressed = &Press{}
	if view.Control.Disabled {
		view.Pressed.Problem = "it is disabled"
		return nil
	}
	backend, err := strconv.ParseInt(view.Control.ID, 10, 64)
	if err != nil {
		return fmt.Errorf("press a control: %w", err)
	}
	node := cdp.BackendNodeID(backend)
	if err := dom.ScrollIntoViewIfNeeded().WithBackendNodeID(node).Do(ctx); err != nil {
		view.Pressed.Problem = "it is not shown"
		return nil //nolint:nilerr // Problem says so
	}
	quads, err := dom.GetContentQuads().WithBackendNodeID(node).Do(ctx)
	if err != nil || len(quads) == 0 || len(quads[0]) < 8 {
		view.Pressed.Problem = "it is not shown"
		return nil //nolint:nilerr // Problem says so
	}
	x, y := (quads[0][0]+quads[0][4])/2, (quads[0][1]+quads[0][5])/2
	if hit, err := l.isHit(ctx, backend, x, y); err != nil || !hit {
		view.Pressed.Problem = "something else covers it"
		return err
	}
	requests, messages := l.count()
	for _, step := range []input.MouseType{input.MouseMoved, input.MousePressed, input.MouseReleased} {
		event := input.DispatchMouseEvent(step, x, y)
		if step != input.MouseMoved {
			event = event.WithButton(input.Left).WithClickCount(1)
		}
		if err := event.Do(ctx); err != nil {
			return fmt.Errorf("press a control: %w", err)
		}
	}
	view.Pressed.Done = true
	if err := l.waitUntilQuiet(ctx, requests); err != nil {
		return err
	}
	l.since(requests, messages, view.Pressed)
	if address, err := callPage[string](ctx, "function () { return location.href; }"); err == nil && l.cut(address) != view.Address {
		view.Pressed.Address = l.cut(address)
	}
	return nil
}

func (l *look) isHit(ctx context.Context, backend int64, x, y float64) (bool, error) {
	object, err := resolveNode(ctx, backend)
	if err != nil {
		return false, err
	}
	called, err := execute[struct {
		Result struct {
			Value bool `json:"value"`
		} `json:"result"`
	}](ctx, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": coversFunction, "objectId": object, "returnByValue": true, "silent": true,
		"arguments": []map[string]any{{"value": x}, {"value": y}},
	})
	return called.Result.Value, err
}

// count is how many requests and messages were seen.
func (l *look) count() (requests, messages int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.order), len(l.messages)
}

// since puts into a press what was seen after so many requests and messages.
func (l *look) since(requests, messages int, pressed *Press) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.order[min(requests, len(l.order)):] {
		pressed.Requests = append(pressed.Requests, *l.requests[id])
	}
	pressed.Requests = inspect.KeepLast(pressed.Requests)
	pressed.Messages = inspect.KeepLast(append([]inspect.Message(nil), l.messages[min(messages, len(l.messages)):]...))
}

// waitUntilQuiet waits until the page sends nothing for a while after its first requests, and each
// of the later ones is answered, or the limit is over.
func (l *look) waitUntilQuiet(ctx context.Context, first int) error {
	began := time.Now()
	quietSince, last := began, -1
	for time.Since(began) < pressLimit && time.Since(quietSince) < quietTime {
		select {
		case <-time.After(appearPause):
		case <-ctx.Done():
			return ctx.Err()
		}
		l.mu.Lock()
		waiting := 0
		for _, id := range l.order[min(first, len(l.order)):] {
			if l.requests[id].Status == "" {
				waiting++
			}
		}
		if len(l.order) != last || waiting > 0 {
			quietSince, last = time.Now(), len(l.order)
		}
		l.mu.Unlock()
	}
	return nil
}
