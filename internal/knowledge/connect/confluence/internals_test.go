package confluence

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// FuzzStorage rewrites what somebody wrote as storage format: nothing of it becomes an element that
// is not known.
func FuzzStorage(f *testing.F) {
	for _, text := range []string{
		"<p>x</p>", `<ac:structured-macro ac:name="code"><ac:plain-text-body><![CDATA[<script>]]></ac:plain-text-body></ac:structured-macro>`, "<p>&nbsp;&amp;&lt;script&gt;", "</p></p>",
		`<a href="&quot;&gt;&lt;script&gt;">x</a>`, `<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-body>Do</ac:task-body></ac:task></ac:task-list>`, "<br><img alt='x'/>",
		`<ac:link><ri:page ri:content-title="A"/><ac:plain-text-link-body><![CDATA[b]]></ac:plain-text-link-body></ac:link>`, "<script>x</script>", "]]>", "<!-- -->", "<?x?>", "\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		page, err := storageToHTML(text)
		if err != nil {
			return
		}
		tokens := html.NewTokenizer(strings.NewReader(page))
		for tokens.Next() != html.ErrorToken {
			name, _ := tokens.TagName()
			if token := string(name); token != "" && !plainElements[token] && token != "div" && token != "a" {
				t.Errorf("an element %s in %q of %q", token, page, text)
			}
		}
		_, _ = renderPage(content{Title: text}, text, 1<<20) //nolint:errcheck // it must not panic
	})
}
