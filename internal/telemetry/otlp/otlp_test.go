package otlp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	of "go.opentelemetry.io/proto/otlp/resource/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"cairn/internal/telemetry/otlp"
)

var (
	traceID = trace.TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	spanID  = trace.SpanID{1, 2, 3, 4, 5, 6, 7, 8}
	parent  = trace.SpanID{8, 7, 6, 5, 4, 3, 2, 1}
	began   = time.Unix(1_795_000_000, 42)
)

// made are two spans with all kinds of attributes between them.
func made() []sdktrace.ReadOnlySpan {
	context := func(span trace.SpanID) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: span, TraceFlags: trace.FlagsSampled})
	}
	from := resource.NewSchemaless(attribute.String("service.name", "cairn"))
	scope := instrumentation.Scope{Name: "cairn"}
	return tracetest.SpanStubs{
		{
			Name: "chat gpt", SpanContext: context(spanID), Parent: context(parent), SpanKind: trace.SpanKindClient,
			StartTime: began, EndTime: began.Add(time.Second), Resource: from, InstrumentationScope: scope, DroppedAttributes: 3,
			Status: sdktrace.Status{Code: codes.Error, Description: "timeout"},
			Attributes: []attribute.KeyValue{
				attribute.String("text", "ü"), attribute.Bool("bool", true), attribute.Int64("int", -7), attribute.Float64("double", 1.5),
				attribute.StringSlice("texts", []string{"a", ""}), attribute.Int64Slice("ints", []int64{1, -1}),
				attribute.BoolSlice("bools", []bool{true, false}), attribute.Float64Slice("doubles", []float64{.5}),
			},
		},
		{Name: "root", SpanContext: context(parent), SpanKind: trace.SpanKindInternal, StartTime: began, EndTime: began, Resource: from,
			InstrumentationScope: scope, Status: sdktrace.Status{Code: codes.Ok}},
	}.Snapshots()
}

func text(value string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}
}

func integer(value int64) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: value}}
}

func double(value float64) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: value}}
}

func boolean(value bool) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: value}}
}

func array(values ...*common.AnyValue) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: values}}}
}

// TestWhatIsSent reads what is sent by the protocol's own descriptors.
func TestWhatIsSent(t *testing.T) {
	bodies := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost || request.URL.Path != "/v1/traces" || request.Header.Get("Content-Type") != "application/x-protobuf" ||
			request.Header.Get("Authorization") != "Bearer x" {
			t.Errorf("%s %s %v", request.Method, request.URL, request.Header)
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		bodies <- body
	}))
	defer server.Close()
	exporter := otlp.New(server.URL+"/v1/traces", http.Header{"Authorization": {"Bearer x"}})
	if err := exporter.ExportSpans(t.Context(), made()); err != nil {
		t.Fatal(err)
	}
	var got collector.ExportTraceServiceRequest
	if err := (proto.UnmarshalOptions{DiscardUnknown: false}).Unmarshal(<-bodies, &got); err != nil {
		t.Fatal(err)
	}
	start := uint64(began.UnixNano())
	want := &collector.ExportTraceServiceRequest{ResourceSpans: []*spans.ResourceSpans{{
		Resource: &of.Resource{Attributes: []*common.KeyValue{{Key: "service.name", Value: text("cairn")}}},
		ScopeSpans: []*spans.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: "cairn"},
			Spans: []*spans.Span{
				{
					TraceId: traceID[:], SpanId: spanID[:], ParentSpanId: parent[:], Name: "chat gpt", Kind: spans.Span_SPAN_KIND_CLIENT,
					StartTimeUnixNano: start, EndTimeUnixNano: start + 1e9, DroppedAttributesCount: 3,
					Status: &spans.Status{Code: spans.Status_STATUS_CODE_ERROR, Message: "timeout"},
					Attributes: []*common.KeyValue{
						{Key: "text", Value: text("ü")}, {Key: "bool", Value: boolean(true)}, {Key: "int", Value: integer(-7)},
						{Key: "double", Value: double(1.5)}, {Key: "texts", Value: array(text("a"), text(""))},
						{Key: "ints", Value: array(integer(1), integer(-1))}, {Key: "bools", Value: array(boolean(true), boolean(false))},
						{Key: "doubles", Value: array(double(.5))},
					},
				},
				{
					TraceId: traceID[:], SpanId: parent[:], Name: "root", Kind: spans.Span_SPAN_KIND_INTERNAL,
					StartTimeUnixNano: start, EndTimeUnixNano: start, Status: &spans.Status{Code: spans.Status_STATUS_CODE_OK},
				},
			},
		}},
	}}}
	if !proto.Equal(&got, want) {
		t.Errorf("sent\n%v\nwant\n%v", &got, want)
	}
}

// answers serves each of these in turn, the last from then on.
func answers(t *testing.T, answer ...http.HandlerFunc) (exporter *otlp.Exporter, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		answer[min(int(asked.Add(1)), len(answer))-1](w, request)
	}))
	t.Cleanup(server.Close)
	return otlp.New(server.URL, http.Header{"Authorization": {"very-secret"}}), asked
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestTriesAgainWhereTheCollectorIsBusy(t *testing.T) {
	wait := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	exporter, asked := answers(t, status(http.StatusServiceUnavailable), wait, status(http.StatusOK))
	if err := exporter.ExportSpans(t.Context(), made()); err != nil || asked.Load() != 3 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
	if err := exporter.ExportSpans(t.Context(), nil); err != nil || asked.Load() != 3 {
		t.Errorf("nothing to send: asked %d times: %v", asked.Load(), err)
	}
	if err := exporter.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestGivesUp(t *testing.T) {
	partial, err := proto.Marshal(&collector.ExportTraceServiceResponse{
		PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: "too old"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"forbidden": {status(http.StatusForbidden), "answers 403"},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "answers 307"},
		"partly": {func(w http.ResponseWriter, _ *http.Request) {
			if _, err := w.Write(partial); err != nil {
				t.Error(err)
			}
		}, "refuses 2 of them"},
	} {
		exporter, asked := answers(t, of.answer)
		err := exporter.ExportSpans(t.Context(), made())
		if err == nil || !strings.Contains(err.Error(), of.want) || strings.Contains(err.Error(), "very-secret") || asked.Load() != 1 {
			t.Errorf("%s: asked %d times: %v", name, asked.Load(), err)
		}
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	exporter, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if err := exporter.ExportSpans(ctx, made()); err == nil {
		t.Error("it told of no failure")
	}
}

// FuzzAnswer has a collector answer anything.
func FuzzAnswer(f *testing.F) {
	partial, err := proto.Marshal(&collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 2}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(partial)
	f.Add([]byte{})
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		exporter, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
			if _, err := w.Write(answer); err != nil {
				t.Error(err)
			}
		})
		var read collector.ExportTraceServiceResponse
		known := proto.Unmarshal(answer, &read) == nil && len(answer) < 1000
		err := exporter.ExportSpans(t.Context(), made())
		if want := read.GetPartialSuccess().GetRejectedSpans(); known && want > 0 != (err != nil) && len(read.ProtoReflect().GetUnknown()) == 0 {
			t.Errorf("%d refused: %v", want, fmt.Errorf("of %q: %w", answer, err))
		}
	})
}
