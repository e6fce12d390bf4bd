package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/chattest"
)

// allowed are the elements and attributes that fragments are made of.
var allowed = map[string]string{
	"html": "", "head": "", "body": "", "article": "class id aria-labelledby data-working", "section": "class aria-label", "div": "class id tabindex role aria-label hidden",
	"p": "class dir tabindex", "span": "class id title dir tabindex", "h2": "class id", "h3": "dir", "h4": "", "h5": "", "h6": "", "small": "class dir", "strong": "dir", "em": "", "del": "",
	"a": "class href aria-label aria-describedby target rel data-why data-key", "code": "class dir", "pre": "tabindex", "blockquote": "", "br": "", "hr": "", "bdi": "", "q": "dir",
	"ul": "", "ol": "class start", "li": "class dir", "dl": "", "dt": "", "dd": "dir", "details": "class id open data-current", "summary": "class dir", "textarea": "name required maxlength rows dir aria-label",
	"table": "class", "thead": "", "tbody": "", "tfoot": "", "tr": "class", "th": "scope align aria-hidden", "td": "class dir align",
	"form": "class method action role aria-label", "button": "class type name value aria-label aria-pressed data-key hidden data-why-close", "input": "type name value maxlength data-key aria-label placeholder",
	"svg": "class viewBox width height aria-hidden focusable preserveAspectRatio", "path": "class data-from data-to d", "circle": "class cx cy r", "figure": "class", "figcaption": "class", "g": "class data-node transform", "title": "", "text": "class x y", "polygon": "class points", "rect": "class x y width height rx",
}

// harmless parses a fragment as a browser does, and tells what a document must not
// bring in: other elements, handlers, styles, addresses, hidden characters.
func harmless(fragment string) error {
	root, err := html.Parse(strings.NewReader(fragment))
	if err != nil {
		return err
	}
	for node := range root.Descendants() {
		for _, r := range node.Data {
			if r != '\n' && unicode.IsControl(r) || r >= '\u202A' && r <= '\u202E' {
				return fmt.Errorf("%U in %q", r, node.Data)
			}
		}
		if node.Type != html.ElementNode {
			continue
		}
		attributes, ok := allowed[node.Data]
		if !ok {
			return fmt.Errorf("element %s", node.Data)
		}
		for _, attribute := range node.Attr {
			if !strings.Contains(" "+attributes+" ", " "+attribute.Key+" ") {
				return fmt.Errorf("attribute %s of %s", attribute.Key, node.Data)
			}
			if err := harmlessAddress(attribute); err != nil {
				return err
			}
		}
	}
	return nil
}

func harmlessAddress(attribute html.Attribute) error {
	switch attribute.Key {
	case "href":
		address, err := url.Parse(attribute.Val)
		if err != nil {
			return err
		}
		mark := strings.HasPrefix(attribute.Val, "#m-")
		own := strings.HasPrefix(attribute.Val, "/t/THREAD/why/m-") || strings.HasPrefix(attribute.Val, "/t/THREAD/documents/m-")
		if !mark && !own && address.Scheme != "http" && address.Scheme != "https" {
			return fmt.Errorf("link to %s", attribute.Val)
		}
	case "action":
		if !strings.HasPrefix(attribute.Val, "/t/THREAD/") {
			return fmt.Errorf("form to %s", attribute.Val)
		}
	}
	return nil
}

func cited(numbers ...int) []chat.SourceGroup {
	return []chat.SourceGroup{{Sources: []chat.Source{{Numbers: numbers}}}}
}

func TestMarkdown(t *testing.T) {
	refs := map[int]sourceRef{1: {"m-A-0-s1", `Title — "Section"`, ""}, 12: {"m-A-0-s12", "Other", ""}}
	cite1 := `<a class="cite" href="#m-A-0-s1" aria-label="Source 1: Title — &#34;Section&#34;" aria-describedby="m-A-0-s1-tip">1</a>`
	outside := func(address, label string) string {
		return `<a href="` + address + `" target="_blank" rel="noopener noreferrer nofollow">` + label + `</a>`
	}
	for _, test := range []struct{ name, text, want string }{
		{"mark", "So it is [1].", "<p>So it is " + cite1 + ".</p>"},
		{"unknown mark", "So it is [7].", "<p>So it is [7].</p>"},
		{"mark in code", "`a[1]`", "<p><code>a[1]</code></p>"},
		{"escaped mark", `\[1]`, "<p>[1]</p>"},
		{"mark that poses as a link", "[1](https://evil.example)", "<p>" + cite1 + "(" + outside("https://evil.example", "https://evil.example") + ")</p>"},
		{"mark redefined", "[1]\n\n[1]: https://evil.example", "<p>" + cite1 + "</p>\n<p>" + cite1 + ": " + outside("https://evil.example", "https://evil.example") + "</p>"},
		{"label closed by a mark", "[text][1]", "<p>[text]" + cite1 + "</p>"},
		{"brackets around", "][1][", "<p>]" + cite1 + "[</p>"},
		{"mark in a link", "[see [1]](https://a.example)", "<p>" + outside("https://a.example", "see [1]") + "</p>"},
		{"mark in a dead link", "[see [1]](guide.md)", "<p>see " + cite1 + "</p>"},
		{"script address", "[x](javascript:alert(1))", "<p>x</p>"},
		{"script address, spelled", "[x](java&#115;cript&colon;alert(1)) [y](\\javascript:alert(1))", "<p>x y</p>"},
		{"data address", "<data:text/html,x>", "<p>data:text/html,x</p>"},
		{"anchor of the document", "[x](#m-A-0-s1)", "<p>x</p>"},
		{"no scheme", "[x](//evil.example)", "<p>x</p>"},
		{"password", "[x](https://bank.example@evil.example)", "<p>x</p>"},
		{"quote in an address", `[x](https://a.example/"onclick="alert(1))`, "<p>" + outside("https://a.example/%22onclick=%22alert%281%29", "x") + "</p>"},
		{"picture", "![a *map*](https://a.example/p.png)", "<p>" + outside("https://a.example/p.png", "image: a <em>map</em>") + "</p>"},
		{"picture in a link", "[![x](https://a.example/p.png)](https://b.example)", "<p>" + outside("https://b.example", "image: x") + "</p>"},
		{"raw HTML", "a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>"},
		{"hidden characters by reference", "a&#27;[2J&#x202e;b&#0;", "<p>a[2Jb\ufffd</p>"},
		{"heading", "# Top", "<h3>Top</h3>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := renderMarkdown(test.text, cited(1, 12), refs)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(got)) != test.want {
				t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want)
			}
		})
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(chattest.Answer().Text)
	f.Add(chattest.Hostile().Text)
	f.Add(chattest.Worldly().Text)
	f.Add("[1](x)[a](java&#115;cript:x)<a href=x>\n|a|\n|:-:|\n|[1]|\n- [ ] x\n\n<http://a>")
	f.Fuzz(func(t *testing.T, text string) {
		refs := map[int]sourceRef{1: {"m-A-0-s1", "Title", ""}}
		got, err := renderMarkdown(text, cited(1), refs)
		if err != nil {
			t.Fatal(err)
		}
		if err := harmless("<body>" + string(got)); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		blocks, err := draftBlocks(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks {
			if err := harmless("<body>" + string(block)); err != nil {
				t.Fatalf("%v in the draft %s", err, block)
			}
		}
	})
}
