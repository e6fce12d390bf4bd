package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/shorten"
)

// Bounds of what an app gives.
const (
	MaxBytes    = 8 << 20 // of one message
	maxDepth    = 100     // of a tree
	maxElements = 5_000
	maxText     = 200 // letters of a name or value
	maxEvents   = 200
	maxEntries  = 200 // properties, or styles, of one element
)

// ErrTooDeep is what is nested deeper than is read.
var ErrTooDeep = fmt.Errorf("nested deeper than the %d levels that are read", maxDepth)

// CheckDepth refuses JSON that is nested deeper than what an app has to say, or is none.
func CheckDepth(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	depth := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read JSON: %w", err)
		}
		if delim, ok := token.(json.Delim); ok {
			if delim == '{' || delim == '[' {
				depth++
			} else {
				depth--
			}
		}
		if depth > 2*maxDepth+10 { // a level of a tree is an object and a list
			return ErrTooDeep
		}
	}
}

// Cut makes text of an app fit to be shown: on one line, without control characters, bounded.
func Cut(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // invisible: it could turn what is around it
			return -1
		}
		return r
	}, text)
	return shorten.Text(text, maxText)
}

// wireElement is an element as apps send it. Ids are numbers or text.
type wireElement struct {
	Name       json.RawMessage `json:"name"`
	Tag        json.RawMessage `json:"tagName"`
	ID         json.RawMessage `json:"id"`
	Selected   json.RawMessage `json:"selected"`
	Children   json.RawMessage `json:"children"`
	Properties json.RawMessage `json:"properties"`
	Styles     json.RawMessage `json:"styles"`
}

// DecodeTree reads a tree of widgets, with the details that stand in it by the ids of their
// elements. What has another type than it should is left out.
func DecodeTree(raw []byte) (Element, map[string]Detail, error) {
	if err := CheckDepth(raw); err != nil {
		return Element{}, nil, err
	}
	d := treeDecoder{elements: maxElements, bytes: maxDecoded, details: make(map[string]Detail)}
	tree, err := d.decode(raw, 0)
	return tree, d.details, err
}

// maxDecoded is how much JSON is read for one tree: each level reads what is below it again.
const maxDecoded = 64 << 20

// treeDecoder reads a tree within bounds.
type treeDecoder struct {
	elements, bytes int // that are left
	details         map[string]Detail
}

func (d *treeDecoder) decode(raw []byte, depth int) (Element, error) {
	var wire wireElement
	d.elements--
	d.bytes -= len(raw)
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Element{}, fmt.Errorf("read an element: %w", err)
	}
	element := Element{ID: scalar(wire.ID), Name: scalar(wire.Name), Tag: scalar(wire.Tag), Selected: scalar(wire.Selected) == "true"}
	if element.ID != "" && len(wire.Properties)+len(wire.Styles) > 0 {
		d.details[element.ID] = decodeDetail(wire.Properties, wire.Styles)
	}
	var children []json.RawMessage
	if depth == maxDepth || json.Unmarshal(wire.Children, &children) != nil {
		return element, nil //nolint:nilerr // children of another type are left out
	}
	for _, child := range children {
		if d.elements <= 0 || d.bytes <= 0 {
			break
		}
		if made, err := d.decode(child, depth+1); err == nil {
			element.Children = append(element.Children, made)
		}
	}
	return element, nil
}

// scalar reads text, a number or a truth value as text; anything else is "".
func scalar(raw json.RawMessage) string {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return ""
	}
	switch v := value.(type) {
	case string:
		return Cut(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// DecodeDetail reads properties and styles: {properties{…}, styles{part{__trace[…]}}}.
func DecodeDetail(raw []byte) (Detail, error) {
	if err := CheckDepth(raw); err != nil {
		return Detail{}, err
	}
	var wire struct {
		Properties json.RawMessage `json:"properties"`
		Styles     json.RawMessage `json:"styles"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Detail{}, fmt.Errorf("read the details of a widget: %w", err)
	}
	return decodeDetail(wire.Properties, wire.Styles), nil
}

func decodeDetail(rawProperties, rawStyles json.RawMessage) Detail {
	var detail Detail
	for name, value := range decodeObject(rawProperties) {
		if text := scalar(value); text != "" && len(detail.Properties) < maxEntries && !isSecret(name) {
			detail.Properties = append(detail.Properties, Property{Name: Cut(name), Value: text})
		}
		if name == "activePage" {
			detail.ActivePage = scalar(value)
		}
	}
	slices.SortFunc(detail.Properties, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	styles := decodeObject(rawStyles)
	for _, part := range slices.Sorted(maps.Keys(styles)) {
		detail.Styles = append(detail.Styles, decodeStyles(Cut(part), styles[part])...)
	}
	detail.Styles = detail.Styles[:min(len(detail.Styles), maxEntries)]
	return detail
}

// decodeObject reads an object; what is none is empty.
func decodeObject(raw json.RawMessage) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return object
}

// decodeStyles reads __trace, the rules of a part from the strongest to the weakest.
func decodeStyles(part string, raw json.RawMessage) []Style {
	var wire struct {
		Trace []struct {
			Name     json.RawMessage `json:"name"`
			Source   json.RawMessage `json:"source"`
			Selector json.RawMessage `json:"cssSelector"`
			Value    json.RawMessage `json:"value"`
		} `json:"__trace"`
	}
	if json.Unmarshal(raw, &wire) != nil {
		return nil
	}
	var styles []Style
	for _, rule := range wire.Trace {
		values := decodeObject(rule.Value)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value := scalar(values[name])
			if value == "" || len(styles) == maxEntries {
				continue
			}
			styles = append(styles, Style{
				Part: part, Name: Cut(name), Value: value, Rule: scalar(rule.Name), Source: scalar(rule.Source), Selector: scalar(rule.Selector),
			})
		}
	}
	return styles
}

// isSecret tells properties whose values nobody needs to see.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "password") || strings.Contains(name, "token") || strings.Contains(name, "secret")
}

// DecodeTimeline reads the names of pages from PAGE_READY events.
func DecodeTimeline(raw []byte) []string {
	var events []struct {
		Name json.RawMessage `json:"name"`
		Data struct {
			Name json.RawMessage `json:"name"`
		} `json:"data"`
	}
	if CheckDepth(raw) != nil || json.Unmarshal(raw, &events) != nil {
		return nil
	}
	var pages []string
	for _, event := range events {
		if name := scalar(event.Data.Name); scalar(event.Name) == "PAGE_READY" && name != "" {
			pages = append(pages, name)
		}
	}
	return KeepLast(pages)
}

// DecodeRequests reads what was requested, without headers, bodies and what addresses ask for.
func DecodeRequests(raw []byte) []Request {
	var wire []map[string]json.RawMessage
	if CheckDepth(raw) != nil || json.Unmarshal(raw, &wire) != nil {
		return nil
	}
	var requests []Request
	for _, one := range wire {
		request := Request{Name: scalar(one["name"]), Method: strings.ToUpper(scalar(one["method"])), Status: scalar(one["status"]), Path: scalar(one["path"])}
		if address, err := url.Parse(request.Path); err == nil {
			request.Path = address.Path
		} else {
			request.Path = ""
		}
		if request.Name != "" || request.Path != "" {
			requests = append(requests, request)
		}
	}
	return KeepLast(requests)
}

// DecodeServiceCall reads a request that an app made, and its response: [config, response], or
// [config, error]. ok is false where there is none.
func DecodeServiceCall(raw []byte) (request Request, ok bool) {
	var wire []map[string]json.RawMessage
	if CheckDepth(raw) != nil || json.Unmarshal(raw, &wire) != nil || len(wire) == 0 {
		return Request{}, false
	}
	address, err := url.Parse(text(wire[0]["url"]))
	if err != nil {
		return Request{}, false
	}
	request = Request{Method: strings.ToUpper(scalar(wire[0]["method"])), Path: Cut(address.Path)}
	if len(wire) > 1 {
		request.Status = scalar(wire[1]["status"])
		if request.Status == "" {
			request.Status = scalar(decodeObject(wire[1]["response"])["status"])
		}
		if request.Status == "" {
			request.Status = scalar(wire[1]["code"]) // "ERR_NETWORK"
		}
	}
	return request, request.Path != ""
}

// text reads text as it is; anything else is "".
func text(raw json.RawMessage) string {
	var value string
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return ""
	}
	return value
}

// KeepLast bounds a list of events to the last of them.
func KeepLast[T any](events []T) []T { return events[max(0, len(events)-maxEvents):] }

// scalars reads what scalar does, or a list of it.
func scalars(raw json.RawMessage) string {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return scalar(raw)
	}
	var all []string
	for _, one := range list[:min(len(list), maxEntries)] {
		if text := scalar(one); text != "" {
			all = append(all, text)
		}
	}
	return Cut(strings.Join(all, " "))
}

// DecodeLogs reads lines of the console. A line is text, or a list of what was logged at once.
func DecodeLogs(raw []byte) []Message {
	var wire []map[string]json.RawMessage
	if CheckDepth(raw) != nil || json.Unmarshal(raw, &wire) != nil {
		return nil
	}
	var messages []Message
	for _, one := range wire {
		if text := scalars(one["message"]); text != "" {
			messages = append(messages, Message{Level: scalar(one["type"]), Text: text})
		}
	}
	return KeepLast(messages)
}
