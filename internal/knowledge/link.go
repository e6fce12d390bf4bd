package knowledge

import (
	"net/url"
	"regexp"
	"strings"
)

// maxAddress is the longest address that a link in a passage keeps, in bytes.
const maxAddress = 500

// linked are the links that MakeLink writes.
var linked = regexp.MustCompile(`\[([^\[\]\n]+)\]\((https?://[^\s()<>]{1,500})\)`)

// MakeLink writes a link into a passage's text, as Markdown. It gives the label alone
// where the address is none of the web, where it is a number, which would read as a mark,
// and where label or address can't be written so.
func MakeLink(label, address string) string {
	parsed, err := url.Parse(strings.TrimSpace(address))
	if err != nil || parsed.Host == "" || parsed.User != nil || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return label
	}
	address = strings.NewReplacer("(", "%28", ")", "%29").Replace(parsed.String())
	if label == address {
		return label
	}
	link := "[" + label + "](" + address + ")"
	if len(address) > maxAddress || strings.Trim(label, "0123456789 \t") == "" || linked.FindString(link) != link {
		return label
	}
	return link
}

// WithoutAddresses gives a passage's text as it is read, searched and measured: of its
// links the labels alone.
func WithoutAddresses(text string) string {
	if !strings.Contains(text, "](http") {
		return text
	}
	return linked.ReplaceAllString(text, "$1")
}

// LinkLength is the length of the link that a text begins with, 0 for none.
func LinkLength(text string) int {
	if at := linked.FindStringIndex(text[:min(len(text), 2*maxAddress)]); at != nil && at[0] == 0 {
		return at[1]
	}
	return 0
}
