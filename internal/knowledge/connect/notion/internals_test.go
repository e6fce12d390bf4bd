package notion

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// FuzzBlocks writes blocks and properties that somebody made up: nothing of them becomes an element
// or an address that is not known. The blocks are in each other as deep as they say.
func FuzzBlocks(f *testing.F) {
	text := `[{"type":"text","plain_text":"a <b> *c*\n","href":"https://x.example","annotations":{"bold":true,"code":true}}]`
	for _, seed := range []string{
		`[{"id":"1","type":"paragraph","paragraph":{"rich_text":` + text + `}}]`,
		`[{"type":"bulleted_list_item","has_children":true,"bulleted_list_item":{"rich_text":` + text + `}},{"type":"numbered_list_item","numbered_list_item":{}}]`,
		`[{"type":"to_do","to_do":{"checked":true,"rich_text":` + text + `}},{"type":"toggle","toggle":{"rich_text":` + text + `}}]`,
		`[{"type":"code","code":{"language":"\"><script>","rich_text":` + text + `,"caption":` + text + `}}]`,
		`[{"type":"table","has_children":true,"table":{"has_column_header":true}},{"type":"table_row","table_row":{"cells":[` + text + `,[]]}}]`,
		`[{"type":"callout","has_children":true,"callout":{"rich_text":` + text + `}},{"type":"quote","quote":{}},{"type":"divider"}]`,
		`[{"type":"bookmark","bookmark":{"url":"javascript:alert(1)"}},{"type":"embed","embed":{"url":"//x\"><script>"}},{"type":"image","image":{"external":{"url":"https://x.example"}}}]`,
		`[{"type":"synced_block","synced_block":{"synced_from":{"block_id":"x"}}},{"type":"child_page","child_page":{"title":"<x>"}}]`,
		`[{"type":"equation","equation":{"expression":"</code>"}},{"type":"heading_1","heading_1":{"rich_text":[{"plain_text":null}]}}]`,
		`[{"type":"select","select":{"name":"<x>"}},{"type":"date","date":{"start":"2026-01-01"}},{"type":"unique_id","unique_id":{"prefix":"A","number":1}}]`,
		`[{"type":"rollup","rollup":{"type":"array","array":[{"type":"formula","formula":{"type":"string","string":"https://x"}}]}}]`, `[null]`, `[{}]`,
	} {
		f.Add(seed)
	}
	known := map[string]bool{
		"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "p": true, "ul": true, "ol": true, "li": true, "blockquote": true, "pre": true, "code": true, "table": true, "tr": true,
		"th": true, "td": true, "a": true, "strong": true, "em": true, "del": true, "br": true, "hr": true, "input": true,
	}
	f.Fuzz(func(t *testing.T, text string) {
		var blocks []block
		if json.Unmarshal([]byte(text), &blocks) != nil {
			return
		}
		w := &blockWriter{
			children: func(context.Context, string) ([]block, error) { return blocks, nil }, title: func(id string) string { return id }, limit: 1 << 16, maxBlocks: 100,
		}
		properties, err := json.Marshal(map[string]json.RawMessage{"A": json.RawMessage("null")})
		var first []json.RawMessage
		if json.Unmarshal([]byte(text), &first) == nil && len(first) > 0 {
			properties, err = json.Marshal(map[string]json.RawMessage{"A <b>": first[0]})
		}
		if err != nil {
			return
		}
		_, _ = w.renderPage(t.Context(), page{ID: "x", Properties: properties}) //nolint:errcheck // what was written until then counts
		made := w.out.String()
		tokens := html.NewTokenizer(strings.NewReader(made))
		for tokens.Next() != html.ErrorToken {
			token := tokens.Token()
			if token.Type == html.TextToken || token.Type == html.EndTagToken && known[token.Data] {
				continue
			}
			if !known[token.Data] {
				t.Errorf("an element %s in %q of %q", token.Data, made, text)
			}
			for _, one := range token.Attr {
				web := strings.HasPrefix(one.Val, "https://") || strings.HasPrefix(one.Val, "http://") || strings.HasPrefix(one.Val, "mailto:")
				if one.Key == "href" && !web || one.Key != "href" && one.Key != "class" && one.Key != "checked" {
					t.Errorf("an attribute %s=%q in %q of %q", one.Key, one.Val, made, text)
				}
			}
		}
	})
}

// TestHashOfAPage has the form of the hashes stay: another one has all pages read anew.
func TestHashOfAPage(t *testing.T) {
	c := New(Options{Audience: "public"})
	one := page{ID: "00000000-0000-4000-8000-000000000001", Edited: time.Unix(1_780_000_000, 0), Properties: json.RawMessage(`{"Name": {"type": "title", "title": [{"plain_text": "Page"}]}}`)}
	if got := c.hashOf(one); !strings.HasPrefix(got, "n1 1780000000 ") {
		t.Errorf("%s", got)
	}
	before := c.hashOf(one)
	c.options.Audience = "group:staff"
	if c.hashOf(one) == before {
		t.Error("another audience has the same hash")
	}
}
