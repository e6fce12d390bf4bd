package browser

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/cairn-bot/cairn/internal/inspect"
)

// observe keeps what Chromium tells of the page.
func (l *look) observe(event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := event.(type) {
	case *inspector.EventTargetCrashed:
		l.crashed = true
		l.cancel()
	case *page.EventJavascriptDialogOpening:
		l.messages = inspect.KeepLast(append(l.messages, inspect.Message{Level: "dialog", Text: l.cut(e.Message)}))
	case *css.EventStyleSheetAdded:
		if len(l.scripts) < maxScripts {
			l.scripts[sheetKey(string(e.Header.StyleSheetID))] = &script{url: e.Header.SourceURL, mapURL: e.Header.SourceMapURL}
		}
	case *debugger.EventScriptParsed:
		if len(l.scripts) < maxScripts {
			l.scripts[string(e.ScriptID)] = &script{url: e.URL, mapURL: e.SourceMapURL}
		}
	case *network.EventRequestWillBeSent:
		l.addRequest(e)
	case *network.EventResponseReceived:
		if request := l.requests[e.RequestID]; request != nil {
			request.Status = fmt.Sprint(e.Response.Status)
		}
	case *network.EventLoadingFailed:
		if request := l.requests[e.RequestID]; request != nil && request.Status == "" {
			request.Status = l.cut(e.ErrorText)
		}
	case *runtime.EventConsoleAPICalled:
		l.addMessage(string(e.Type), e.Args)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text, _, _ = strings.Cut(e.ExceptionDetails.Exception.Description, "\n")
		}
		l.messages = inspect.KeepLast(append(l.messages, inspect.Message{Level: "error", Text: l.cut(text)}))
	}
}

// ownRequest is what Chromium asks for itself, wherever the page does not name its icon.
const ownRequest = "/favicon.ico"

// addRequest keeps a request of the page's own, without what it asks for.
func (l *look) addRequest(e *network.EventRequestWillBeSent) {
	address, err := url.Parse(e.Request.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Path == ownRequest || len(l.order) >= maxRequests {
		return
	}
	port := address.Port()
	if port == "" {
		port = defaultPorts[address.Scheme]
	}
	l.asked[net.JoinHostPort(address.Hostname(), port)] = true
	if l.requests[e.RequestID] == nil {
		l.order = append(l.order, e.RequestID)
	}
	l.requests[e.RequestID] = &inspect.Request{Name: l.cut(address.Host), Method: l.cut(e.Request.Method), Path: l.cut(address.Path)}
}

func (l *look) addMessage(level string, arguments []*runtime.RemoteObject) {
	var texts []string
	for _, argument := range arguments[:min(len(arguments), 20)] {
		text := argument.Description
		if text == "" {
			text = strings.Trim(string(argument.Value), `"`)
		}
		texts = append(texts, text)
	}
	l.messages = inspect.KeepLast(append(l.messages, inspect.Message{Level: level, Text: l.cut(strings.Join(texts, " "))}))
}

func (l *look) script(id string) *script {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scripts[id]
}

func (l *look) addProblem(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.problems) < maxProblems && !slices.Contains(l.problems, text) {
		l.problems = append(l.problems, text)
	}
}

// closeDialogs closes the dialogs of the page, which would hold it up, by "Cancel".
func (l *look) closeDialogs(event any) {
	if _, ok := event.(*page.EventJavascriptDialogOpening); !ok {
		return
	}
	l.closing.Go(func() {
		err := chromedp.Run(l.tab, page.HandleJavaScriptDialog(false))
		if err != nil && l.tab.Err() == nil {
			l.addProblem("a dialog of the page could not be closed")
		}
	})
}

// cut shortens a text of the page, without the password that it may show.
func (l *look) cut(text string) string {
	if password := l.browser.options.Login.Password; password != "" {
		text = strings.ReplaceAll(text, password, "[password]")
	}
	return inspect.Cut(text)
}

// execute sends a command with types of our own: Chromium has values that the library refuses.
func execute[R any](ctx context.Context, method string, parameters map[string]any) (R, error) {
	var result R
	err := cdp.Execute(ctx, method, parameters, &result)
	if err != nil {
		return result, fmt.Errorf("%s: %w", method, err)
	}
	return result, nil
}
