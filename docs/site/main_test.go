package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheSiteHasEveryPageAndNoBrokenLink writes the documentation of this checkout.
func TestTheSiteHasEveryPageAndNoBrokenLink(t *testing.T) {
	made, err := readSite(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range made.checkLinks() {
		t.Error(broken)
	}
	out := t.TempDir()
	if err := made.write(out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"index.html": `<a href="slack.html">`, "slack.html": `<h2 id="the-first-answer">`,
		"commands.html": `aria-current="page"`, "index.js": `"link":"install.html#as-a-service"`, "site.js": "sections",
	} {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%s lacks %s: %v", name, want, err)
		}
	}
}

// TestBrokenLinksAreFound has links to a page, a section and a picture that are not there.
func TestBrokenLinksAreFound(t *testing.T) {
	read, err := renderPage("docs/a.md", []byte("# A\n\n[b](b.md) [self](#no) ![c](pictures/c.png) [code](../cmd/x.go) [ok](a.md#a)\n"))
	if err != nil {
		t.Fatal(err)
	}
	broken := (&site{pages: []*page{read}}).checkLinks()
	if len(broken) != 3 {
		t.Errorf("found %v", broken)
	}
	if !strings.Contains(string(read.Body), `href="https://github.com/cairn-bot/cairn/blob/main/cmd/x.go"`) {
		t.Errorf("a file does not lead to the repository:\n%s", read.Body)
	}
}
