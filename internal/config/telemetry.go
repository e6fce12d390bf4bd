package config

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Telemetry is what `cairn serve` measures of itself; the zero Telemetry is nothing.
type Telemetry struct {
	// Listen is the address of /metrics, /healthz and /readyz, "host:port"; "" for none.
	Listen string `key:"listen" form:"listen" optional:"true"`
	// Profile is a loopback address of pprof, "host:port"; "" for none.
	Profile string `key:"profile" form:"loopback" optional:"true"`
	// Traces is where spans go over OTLP/HTTP: "http://collector:4318/v1/traces"; "" for nowhere.
	Traces string `key:"traces" form:"traces" optional:"true"`
	// TracesHeaders are sent with them, in the form of OTEL_EXPORTER_OTLP_HEADERS:
	// "Authorization=Bearer%20abc,X-Scope=7".
	TracesHeaders HiddenText `key:"traces_headers"`
}

// Headers are TracesHeaders as they are sent. Load has checked that they can be read.
func (t Telemetry) Headers() (http.Header, error) {
	headers := http.Header{}
	if t.TracesHeaders.IsZero() {
		return headers, nil
	}
	for pair := range strings.SplitSeq(t.TracesHeaders.Reveal(), ",") {
		name, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(value)
		if !found || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, errors.New("telemetry.traces_headers: want names and values divided by commas, such as Authorization=Bearer%20abc, with %20 for a space and %2C for a comma")
		}
		headers.Add(name, value)
	}
	return headers, nil
}

// validate gives what is missing or does not fit together.
func (t Telemetry) validate() error {
	_, err := t.Headers()
	if err == nil && t.Traces == "" && !t.TracesHeaders.IsZero() {
		err = errors.New("telemetry.traces_headers: they go with spans, and there is no telemetry.traces to send them to")
	}
	return err
}
