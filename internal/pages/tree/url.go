package tree

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark/util"
)

// SafeURL gives an address that a page may link to: of the web or of mail, or a place on the
// same site. ok is false for all others, such as "javascript:".
func SafeURL(address string) (clean string, ok bool) {
	parsed, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "", false
	}
	switch strings.ToLower(parsed.Scheme) {
	case "http", "https":
		return parsed.String(), parsed.Host != "" && parsed.User == nil
	case "mailto":
		return parsed.String(), true
	case "":
		return parsed.String(), parsed.Host == "" && address != "" && !strings.HasPrefix(parsed.String(), "//")
	}
	return "", false
}

// unescape resolves what Markdown writes of characters that mean something to it.
func unescape(text []byte) []byte {
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(text)))
}
