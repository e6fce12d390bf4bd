package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// texts read the texts of settings, by the names that tags give them.
var texts = map[string]func(text string, from base) (string, error){
	"path":        func(text string, from base) (string, error) { return from.absolute(text) },
	"folder":      readFolder,
	"pattern":     readPattern,
	"name":        readName,
	"owner":       readOwner,
	"listen":      readListenAddress,
	"loopback":    readLoopbackAddress,
	"address":     readAddress,
	"api address": readAPIAddress,
	"issuer":      readIssuer,
	"traces":      readTracesAddress,
	"server":      readServerAddress,
	"link base":   readLinkBase,
	"host":        readHost,
	"repository":  readRepository,
	"person":      readPerson,
	"principal":   readPrincipal,
	"variable":    readVariable,
	"public key":  matchText(`^[0-9a-fA-F]{64}$`, errors.New("want the app's public key, 64 hexadecimal digits")),
	"source name": readSourceName,

	"source address": readSourceAddress,
	"channel":        readChannel,
	"slack channel":  readSlackChannel,
	"argument":       readArgument,
	"language":       readLanguage,
	"account":        readAccount,
	"time of day":    readTimeOfDay,
	"time zone":      readTimeZone,
}

// matchText gives a reader of texts that match an expression. Its error does not repeat them.
func matchText(expression string, refused error) func(text string, _ base) (string, error) {
	matches := regexp.MustCompile(expression)
	return func(text string, _ base) (string, error) {
		if !matches.MatchString(text) {
			return "", refused
		}
		return text, nil
	}
}

var sourceName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func readSourceName(text string, _ base) (string, error) {
	if !sourceName.MatchString(text) {
		return "", fmt.Errorf("%q: want 1 to 64 lower-case letters, digits, - and _, a letter or digit first", text)
	}
	if text == pagesName {
		return "", fmt.Errorf("%q is the source of the pages that people write with Cairn: give this one another name", text)
	}
	return text, nil
}

func readSlackChannel(text string, _ base) (string, error) {
	if !slackChannel.MatchString(text) {
		return "", fmt.Errorf("%.40q: want the id of a channel, such as C0123ABCD", text)
	}
	return text, nil
}

// pagesName is the name of the source that is there without being configured.
const pagesName = "pages"

// readVariable reads the name of a variable. It may be a key in the wrong place: it is not repeated.
var readVariable = matchText(`^[A-Z_][A-Z0-9_]*$`, errors.New("want the name of an environment variable, in capitals, such as OPENAI_API_KEY"))

// readName checks what a server calls something.
func readName(text string, _ base) (string, error) {
	const most = 200
	if text == "" || len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%q: want a name of 1 to %d characters, without white space", text, most)
	}
	return text, nil
}

func readOwner(text string, _ base) (string, error) {
	const most = 200
	if len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return "", fmt.Errorf("%.40q: want a name of at most %d characters that can be printed", text, most)
	}
	return text, nil
}

func readPerson(text string, _ base) (string, error) {
	if text == "" || len(text) > 320 {
		return "", fmt.Errorf("%q: want an e-mail address or the name of a group", text)
	}
	return text, nil
}

func readPrincipal(text string, _ base) (string, error) {
	principal, err := knowledge.ParsePrincipal(text)
	return string(principal), err
}

func readFolder(text string, from base) (string, error) {
	path, err := from.absolute(text)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("%q: there is no such folder", text)
	case err != nil:
		return "", fmt.Errorf("%q: %w", text, err)
	case !info.IsDir():
		return "", fmt.Errorf("%q: want a folder, this is a file", text)
	}
	return path, nil
}

func readPattern(text string, _ base) (string, error) {
	if text == "" {
		return "", errors.New("an empty pattern matches nothing: remove it")
	}
	if !doublestar.ValidatePattern(text) {
		return "", fmt.Errorf("%q is no valid pattern: want one such as docs/**/*.md", text)
	}
	return text, nil
}

// repositoryPlace is a host, or a part of what it holds.
var repositoryPlace = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*$`)

func readRepository(text string, _ base) (string, error) {
	host, path, _ := strings.Cut(strings.Trim(text, "/"), "/")
	place := strings.TrimSuffix(strings.ToLower(host)+"/"+path, "/")
	if !repositoryPlace.MatchString(place) || slices.Contains(strings.Split(path, "/"), "..") {
		return "", fmt.Errorf("%q: want a host, or a part of what it holds, such as github.com/acme, without https://", text)
	}
	return place, nil
}

// hostName is a DNS name, without a port.
var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

func readHost(text string, _ base) (string, error) {
	host := strings.ToLower(text)
	if !hostName.MatchString(host) {
		return "", fmt.Errorf("%q: want the name of a host alone, such as wiki.example.com", text)
	}
	return host, nil
}

func readListenAddress(text string, _ base) (string, error) {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = wholeNumber(port, 0, math.MaxUint16)
	}
	if err != nil {
		return "", fmt.Errorf("%q: want host:port, such as 127.0.0.1:8080", text)
	}
	return text, nil
}

// readLoopbackAddress reads an address to listen at that this machine alone reaches.
func readLoopbackAddress(text string, from base) (string, error) {
	if _, err := readListenAddress(text, from); err != nil {
		return "", err
	}
	if !isLoopback(text) {
		return "", fmt.Errorf("%q: profiles show what is in memory: want an address of the loopback interface, such as 127.0.0.1:6060", text)
	}
	return text, nil
}

// isLoopback tells whether an address to listen at, "host:port", is reached from this
// machine alone.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// readIssuer reads an address that is used as it is written.
func readIssuer(text string, _ base) (string, error) {
	if !isPlainAddress(text) {
		return "", errors.New("want an address such as https://cairn.example.com, with no user, query or fragment")
	}
	return text, nil
}

func readAddress(text string, from base) (string, error) {
	address, err := readIssuer(text, from)
	return strings.TrimRight(address, "/"), err
}

func readAPIAddress(text string, from base) (string, error) {
	address, err := readAddress(text, from)
	return address + "/", err
}

// isPlainAddress tells whether a text is a web address that holds nothing that must not be shown.
func isPlainAddress(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && parsed.Host != "" &&
		parsed.User == nil && parsed.RawQuery == "" && parsed.Fragment == ""
}

// readLinkBase reads what links to documents begin with.
func readLinkBase(text string, _ base) (string, error) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return "", fmt.Errorf("%q: want an address that starts with http:// or https://", text)
	}
	return text, nil
}

// tracesPath is where a collector takes spans, for an address that names no path.
const tracesPath = "/v1/traces"

// readTracesAddress reads where spans are sent. A key in the address would be shown.
func readTracesAddress(text string, _ base) (string, error) {
	parsed, err := url.Parse(text)
	if err != nil || !isPlainAddress(text) {
		return "", errors.New("want the address of a collector that takes OTLP over HTTP, such as http://collector:4318, with no user, query or fragment: keys belong into CAIRN_TELEMETRY_TRACES_HEADERS or a file")
	}
	if strings.Trim(parsed.Path, "/") == "" {
		parsed.Path = tracesPath
	}
	return parsed.String(), nil
}

// readServerAddress reads where a model is. Its errors don't repeat the text: it may hold a
// password, or be a key in the wrong place.
func readServerAddress(text string, _ base) (string, error) {
	address, err := url.Parse(text)
	switch {
	case err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" || address.Fragment != "":
		return "", errors.New("want an address such as https://api.example.com/v1")
	case address.User != nil:
		return "", errors.New("a user and password do not stand in an address: give the server's key with key_env or key_file")
	case address.RawQuery != "" || address.ForceQuery:
		return "", errors.New("want an address without a query: for Azure set azure_api_version, for a key key_env or key_file")
	}
	return strings.TrimRight(text, "/"), nil
}
