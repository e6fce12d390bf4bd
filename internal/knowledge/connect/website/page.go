package website

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxLinks is how many links of one page are followed.
const maxLinks = 5000

// pageFacts is what a page says of itself to programs.
type pageFacts struct {
	canonical *url.URL // nil: none on the same host
	language  string
	hidden    bool // it asks not to be indexed
	links     []*url.URL
}

// readFacts reads them from HTML, however broken.
func readFacts(address *url.URL, content []byte) pageFacts {
	var facts pageFacts
	base := address
	follow := true
	tokens := html.NewTokenizer(bytes.NewReader(content))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		token := tokens.Token()
		switch token.DataAtom {
		case atom.Html:
			facts.language = strings.TrimSpace(attribute(token, "lang"))
		case atom.Base:
			if to, err := address.Parse(attribute(token, "href")); err == nil {
				base = to
			}
		case atom.Meta:
			if name := strings.ToLower(attribute(token, "name")); name == "robots" || name == agentName {
				said := strings.ToLower(attribute(token, "content"))
				facts.hidden = facts.hidden || strings.Contains(said, "noindex") || strings.Contains(said, "none")
				follow = follow && !strings.Contains(said, "nofollow") && !strings.Contains(said, "none")
			}
		case atom.Link:
			if strings.EqualFold(attribute(token, "rel"), "canonical") {
				if to, err := base.Parse(attribute(token, "href")); err == nil && strings.EqualFold(to.Host, address.Host) {
					to.Scheme = address.Scheme
					facts.canonical = normalizeURL(to)
				}
			}
		case atom.A, atom.Area:
			if to, err := base.Parse(strings.TrimSpace(attribute(token, "href"))); err == nil && to.Host != "" && len(facts.links) < maxLinks &&
				attribute(token, "href") != "" && !strings.Contains(strings.ToLower(attribute(token, "rel")), "nofollow") {
				facts.links = append(facts.links, normalizeURL(to))
			}
		}
	}
	if !follow {
		facts.links = nil
	}
	return facts
}

func attribute(token html.Token, key string) string {
	for _, a := range token.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
