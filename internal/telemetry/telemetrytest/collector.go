// Package telemetrytest has a strict stand-in for a collector of traces.
package telemetrytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// maxBody bounds what is taken at once, in bytes.
const maxBody = 16 << 20

// Span is one that the collector was sent.
type Span struct {
	Trace, ID, Parent string // in hex; Parent "" for a root
	Name              string
	Attributes        map[string]string
	Failed            bool
	Service           string // service.instance.id
}

// Collector takes spans over HTTP.
type Collector struct {
	URL string // without a path

	headers http.Header
	mu      sync.Mutex
	spans   []Span
	raw     []string
}

// New starts a collector that wants these headers on each request, and ends with the test.
func New(t testing.TB, headers http.Header) *Collector {
	t.Helper()
	c := &Collector{headers: headers}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if err := c.takeSpans(request); err != nil {
			t.Errorf("the collector was sent what it can't take: %v", err)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf") // and an empty response: all is taken
	}))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *Collector) takeSpans(request *http.Request) error {
	if request.Method != http.MethodPost || request.URL.Path != "/v1/traces" || request.Header.Get("Content-Type") != "application/x-protobuf" {
		return fmt.Errorf("%s %s of %q", request.Method, request.URL.Path, request.Header.Get("Content-Type"))
	}
	for name := range c.headers {
		if request.Header.Get(name) != c.headers.Get(name) {
			return fmt.Errorf("header %s is missing or wrong", name)
		}
	}
	body, err := io.ReadAll(io.LimitReader(request.Body, maxBody))
	if err != nil {
		return err
	}
	var sent collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &sent); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, string(body))
	for _, resource := range sent.GetResourceSpans() {
		of := stringAttributes(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, Span{
					Trace: fmt.Sprintf("%x", span.GetTraceId()), ID: fmt.Sprintf("%x", span.GetSpanId()), Parent: fmt.Sprintf("%x", span.GetParentSpanId()),
					Name: span.GetName(), Attributes: stringAttributes(span.GetAttributes()), Service: of["service.instance.id"],
					Failed: span.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR,
				})
			}
		}
	}
	return nil
}

func stringAttributes(of []*common.KeyValue) map[string]string {
	made := make(map[string]string)
	for _, pair := range of {
		switch value := pair.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			made[pair.GetKey()] = value.StringValue
		case *common.AnyValue_IntValue:
			made[pair.GetKey()] = fmt.Sprint(value.IntValue)
		default:
			made[pair.GetKey()] = pair.GetValue().String()
		}
	}
	return made
}

// Spans returns all that were sent up to now, in the order in which they came.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Raw returns all that was sent, as it came.
func (c *Collector) Raw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.raw, "\n")
}

// Tree shows the spans of a trace by name, each indented below its parent; a span whose
// parent is not there stands at the left edge like a root.
func (c *Collector) Tree(of string) string {
	var spans []Span
	known := make(map[string]bool)
	for _, span := range c.Spans() {
		if span.Trace == of {
			spans = append(spans, span)
			known[span.ID] = true
		}
	}
	var b strings.Builder
	var show func(parent, indent string)
	show = func(parent, indent string) {
		for _, span := range spans {
			if span.Parent == parent || parent == "" && !known[span.Parent] {
				b.WriteString(indent + span.Name + "\n")
				show(span.ID, indent+"  ")
			}
		}
	}
	show("", "")
	return b.String()
}
