package otlp

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of fields in opentelemetry/proto, trace/v1, common/v1, resource/v1 and
// collector/trace/v1.
const (
	requestResourceSpans protowire.Number = 1

	resourceSpansResource   protowire.Number = 1
	resourceSpansScopeSpans protowire.Number = 2
	resourceAttributes      protowire.Number = 1

	scopeSpansScope protowire.Number = 1
	scopeSpansSpans protowire.Number = 2
	scopeName       protowire.Number = 1
	scopeVersion    protowire.Number = 2

	spanTrace      protowire.Number = 1
	spanID         protowire.Number = 2
	spanParent     protowire.Number = 4
	spanName       protowire.Number = 5
	spanKind       protowire.Number = 6
	spanStart      protowire.Number = 7
	spanEnd        protowire.Number = 8
	spanAttributes protowire.Number = 9
	spanDropped    protowire.Number = 10
	spanStatus     protowire.Number = 15

	statusMessage protowire.Number = 2
	statusCode    protowire.Number = 3

	pairKey   protowire.Number = 1
	pairValue protowire.Number = 2

	valueText   protowire.Number = 1
	valueBool   protowire.Number = 2
	valueInt    protowire.Number = 3
	valueDouble protowire.Number = 4
	valueArray  protowire.Number = 5
	arrayValues protowire.Number = 1

	responsePartial protowire.Number = 1
	partialRejected protowire.Number = 1
)

// The codes of a span's status, which the SDK numbers otherwise.
const (
	statusOK    = 1
	statusError = 2
)

// encodeSpans returns an ExportTraceServiceRequest. All spans of a process have one resource.
func encodeSpans(spans []sdktrace.ReadOnlySpan) []byte {
	if len(spans) == 0 {
		return nil
	}
	var of []byte
	of = appendPart(of, resourceSpansResource, appendPairs(nil, resourceAttributes, spans[0].Resource().Attributes()))
	for scope, encoded := range byScope(spans) {
		of = appendPart(of, resourceSpansScopeSpans, append(appendPart(nil, scopeSpansScope, encodeScope(scope)), encoded...))
	}
	return appendPart(nil, requestResourceSpans, of)
}

// byScope returns the encoded spans of each scope.
func byScope(spans []sdktrace.ReadOnlySpan) map[instrumentation.Scope][]byte {
	scopes := make(map[instrumentation.Scope][]byte)
	for _, span := range spans {
		scope := span.InstrumentationScope()
		scopes[scope] = appendPart(scopes[scope], scopeSpansSpans, encodeSpan(span))
	}
	return scopes
}

func encodeScope(scope instrumentation.Scope) []byte {
	return appendText(appendText(nil, scopeName, scope.Name), scopeVersion, scope.Version)
}

func encodeSpan(span sdktrace.ReadOnlySpan) []byte {
	trace, id := span.SpanContext().TraceID(), span.SpanContext().SpanID()
	b := appendPart(nil, spanTrace, trace[:])
	b = appendPart(b, spanID, id[:])
	if parent := span.Parent().SpanID(); parent.IsValid() {
		b = appendPart(b, spanParent, parent[:])
	}
	b = appendText(b, spanName, span.Name())
	b = appendVarint(b, spanKind, uint64(span.SpanKind())) //nolint:gosec // the SDK's numbers are those of the protocol
	b = appendTime(b, spanStart, span.StartTime())
	b = appendTime(b, spanEnd, span.EndTime())
	b = appendPairs(b, spanAttributes, span.Attributes())
	b = appendVarint(b, spanDropped, uint64(max(0, span.DroppedAttributes())))
	return appendPart(b, spanStatus, encodeStatus(span.Status()))
}

func encodeStatus(status sdktrace.Status) []byte {
	b := appendText(nil, statusMessage, status.Description)
	switch status.Code {
	case codes.Ok:
		return appendVarint(b, statusCode, statusOK)
	case codes.Error:
		return appendVarint(b, statusCode, statusError)
	case codes.Unset:
	}
	return b
}

func appendPairs(b []byte, number protowire.Number, pairs []attribute.KeyValue) []byte {
	for _, pair := range pairs {
		encoded := appendText(nil, pairKey, string(pair.Key))
		b = appendPart(b, number, appendPart(encoded, pairValue, encodeValue(pair.Value)))
	}
	return b
}

func encodeValue(value attribute.Value) []byte {
	switch value.Type() {
	case attribute.BOOL:
		return encodeBool(value.AsBool())
	case attribute.INT64:
		return encodeInt(value.AsInt64())
	case attribute.FLOAT64:
		return encodeDouble(value.AsFloat64())
	case attribute.STRING:
		return encodeText(value.AsString())
	case attribute.BOOLSLICE:
		return encodeArray(value.AsBoolSlice(), encodeBool)
	case attribute.INT64SLICE:
		return encodeArray(value.AsInt64Slice(), encodeInt)
	case attribute.FLOAT64SLICE:
		return encodeArray(value.AsFloat64Slice(), encodeDouble)
	case attribute.STRINGSLICE:
		return encodeArray(value.AsStringSlice(), encodeText)
	}
	return encodeText(value.String())
}

func encodeBool(value bool) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, valueBool, protowire.VarintType), protowire.EncodeBool(value))
}

func encodeInt(value int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, valueInt, protowire.VarintType), uint64(value)) //nolint:gosec // as the wire has it
}

func encodeDouble(value float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, valueDouble, protowire.Fixed64Type), math.Float64bits(value))
}

func encodeText(value string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, valueText, protowire.BytesType), value)
}

func encodeArray[T any](values []T, encode func(T) []byte) []byte {
	var array []byte
	for _, value := range values {
		array = appendPart(array, arrayValues, encode(value))
	}
	return appendPart(nil, valueArray, array)
}

// appendPart appends a message, or bytes; also empty ones.
func appendPart(b []byte, number protowire.Number, part []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), part)
}

func appendText(b []byte, number protowire.Number, text string) []byte {
	if text == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func appendVarint(b []byte, number protowire.Number, value uint64) []byte {
	if value == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
}

func appendTime(b []byte, number protowire.Number, at time.Time) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), uint64(at.UnixNano())) //nolint:gosec // after 1970
}

// countRejected reads of an ExportTraceServiceResponse how many spans were refused. What can't
// be read refuses none.
func countRejected(response []byte) int64 {
	partial, _ := protowire.ConsumeBytes(findField(response, responsePartial, protowire.BytesType))
	refused, n := protowire.ConsumeVarint(findField(partial, partialRejected, protowire.VarintType))
	if n < 0 {
		return 0
	}
	return int64(refused) //nolint:gosec // as the wire has it
}

// findField returns what stands behind the first tag of a field, nil where there is none.
func findField(message []byte, number protowire.Number, wire protowire.Type) []byte {
	for len(message) > 0 {
		found, has, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		message = message[n:]
		if found == number && has == wire {
			return message
		}
		if n = protowire.ConsumeFieldValue(found, has, message); n < 0 {
			return nil
		}
		message = message[n:]
	}
	return nil
}
