package config

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Telemetry is what `cairn serve` measures of itself; the zero Telemetry is nothing.
type Telemetry struct {
	Listen  string // address of /metrics, /healthz and /readyz, "host:port"; "" for none
	Profile string // loopback address of pprof, "host:port"; "" for none
	Traces  string // where spans go over OTLP/HTTP: "http://collector:4318/v1/traces"; "" for nowhere
	// TracesHeaders are sent with them, in the form of OTEL_EXPORTER_OTLP_HEADERS:
	// "Authorization=Bearer%20abc,X-Scope=7".
	TracesHeaders HiddenText
}

// tracesPath is where a collector takes spans, for an address that names no path.
const tracesPath = "/v1/traces"

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

// telemetryAlone gives what is missing or does not fit together.
func (c Config) telemetryAlone() error {
	_, err := c.Telemetry.Headers()
	if err == nil && c.Telemetry.Traces == "" && !c.Telemetry.TracesHeaders.IsZero() {
		err = errors.New("telemetry.traces_headers: they go with spans, and there is no telemetry.traces to send them to")
	}
	return err
}

var telemetrySettings = slices.Concat([]setting[Config]{
	{
		key: "telemetry.listen", env: "CAIRN_TELEMETRY_LISTEN",
		set: func(c *Config, text string, _ base) (err error) {
			c.Telemetry.Listen, err = optionalAddress(text)
			return err
		},
		get: func(c Config) []string { return []string{c.Telemetry.Listen} },
	},
	{
		key: "telemetry.profile", env: "CAIRN_TELEMETRY_PROFILE",
		set: func(c *Config, text string, _ base) (err error) {
			if c.Telemetry.Profile, err = optionalAddress(text); err != nil || text == "" {
				return err
			}
			host, _, err := net.SplitHostPort(text)
			if address, parseErr := netip.ParseAddr(host); err == nil && host != "localhost" && (parseErr != nil || !address.IsLoopback()) {
				err = fmt.Errorf("%q: profiles show what is in memory: want an address of the loopback interface, such as 127.0.0.1:6060", text)
			}
			return err
		},
		get: func(c Config) []string { return []string{c.Telemetry.Profile} },
	},
	{
		key: "telemetry.traces", env: "CAIRN_TELEMETRY_TRACES",
		set: func(c *Config, text string, _ base) (err error) {
			c.Telemetry.Traces, err = tracesAddress(text)
			return err
		},
		get: func(c Config) []string { return []string{c.Telemetry.Traces} },
	},
}, chatSecret("telemetry.traces_headers", func(c *Config) *HiddenText { return &c.Telemetry.TracesHeaders }))

// optionalAddress is an address to listen at; "" is none.
func optionalAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return listenAddress(text)
}

// tracesAddress gives where spans are sent. A key in the address would be shown.
func tracesAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" ||
		parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return "", errors.New("want the address of a collector that takes OTLP over HTTP, such as http://collector:4318, with no user, query or fragment: keys belong into CAIRN_TELEMETRY_TRACES_HEADERS or a file")
	}
	if strings.Trim(parsed.Path, "/") == "" {
		parsed.Path = tracesPath
	}
	return parsed.String(), nil
}
