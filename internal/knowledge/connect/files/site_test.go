package files

import (
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
)

func TestSitesOfKnownGeneratorsHaveTheirAddresses(t *testing.T) {
	for name, test := range map[string]struct {
		config, content string
		want            map[string]string // address by path; with a space and the language behind it
	}{
		"mkdocs": {"mkdocs.yml", "site_name: x\nsite_url: https://docs.example.com/app/ # published\nplugins:\n  - !!python/name:x\n", map[string]string{
			"docs/index.md": "https://docs.example.com/app/", "docs/guide/keys.md": "https://docs.example.com/app/guide/keys/",
			"docs/guide/README.md": "https://docs.example.com/app/guide/", "CHANGELOG.md": "file:",
		}},
		"mkdocs with files": {"mkdocs.yml", "site_url: \"https://docs.example.com\"\ndocs_dir: ./text\nuse_directory_urls: false\n", map[string]string{
			"text/a.md": "https://docs.example.com/a.html", "docs/a.md": "file:",
		}},
		"docusaurus": {"docusaurus.config.js", "const config = {\n  title: 'x',\n  url: 'https://docs.example.com',\n  baseUrl: '/app/',\n};\n", map[string]string{
			"docs/01-intro.md": "https://docs.example.com/app/docs/intro", "docs/2-guide/index.mdx": "https://docs.example.com/app/docs/guide/",
			"docs/guide/guide.md":                                        "https://docs.example.com/app/docs/guide/",
			"versioned_docs/version-2.1/keys.md":                         "https://docs.example.com/app/docs/2.1/keys",
			"i18n/de/docusaurus-plugin-content-docs/current/keys.md":     "https://docs.example.com/app/de/docs/keys de",
			"i18n/de/docusaurus-plugin-content-docs/version-2.1/keys.md": "https://docs.example.com/app/de/docs/2.1/keys de",
			"README.md": "file:",
		}},
		"docusaurus at the root": {"docusaurus.config.ts", "  url: \"https://docs.example.com\",\n  baseUrl: \"/\",\n  trailingSlash: true,\n docs: { routeBasePath: '/' },\n", map[string]string{
			"docs/keys.md": "https://docs.example.com/keys/",
		}},
		"vitepress": {".vitepress/config.mts", "export default {\n  base: '/app/',\n  sitemap: {\n    hostname: 'https://docs.example.com'\n  }\n}\n", map[string]string{
			"guide/index.md": "https://docs.example.com/app/guide/", "guide/a b.md": "https://docs.example.com/app/guide/a%20b.html",
		}},
		"hugo": {"hugo.toml", "baseURL = 'https://docs.example.com/'\ndefaultContentLanguage = 'en'\n[languages.en]\n[languages.de]\n", map[string]string{
			"content/docs/_index.md": "https://docs.example.com/docs/", "content/en/docs/Keys.md": "https://docs.example.com/docs/keys/ en",
			"content/de/docs/keys.md": "https://docs.example.com/de/docs/keys/ de", "content/about.fr.md": "https://docs.example.com/fr/about/ fr",
			"content/go/x.md": "https://docs.example.com/go/x/", "README.md": "file:",
		}},
		"sphinx": {"conf.py", "import os\nlanguage = 'de'\nhtml_baseurl = 'https://docs.example.com/latest/'\n", map[string]string{
			"index.rst": "https://docs.example.com/latest/index.html de", "guide/keys.md": "https://docs.example.com/latest/guide/keys.html de", "a.txt": "file:",
		}},
		"a site that does not say where": {"mkdocs.yml", "site_name: x\n", map[string]string{"docs/a.md": "file:"}},
		"an address that is none":        {"mkdocs.yml", "site_url: javascript:alert(1)\n", map[string]string{"docs/a.md": "file:"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.Put("sub/"+test.config, test.content)
			for path := range test.want {
				f.Put("sub/"+path, "text")
			}
			found := f.documents()
			for path, want := range test.want {
				document := found["sub/"+path].Document
				if got := strings.TrimSpace(document.URL + " " + document.Language); got != want && (want != "file:" || !strings.HasPrefix(got, "file:")) {
					t.Errorf("%s is at %s, want %s", path, got, want)
				}
			}
		})
	}
}

func TestASetAddressGoesBeforeASite(t *testing.T) {
	f := newFolder(t)
	f.Put("mkdocs.yml", "site_url: https://docs.example.com/\n")
	f.Put("docs/a.md", "See [b](b.md#x) and [c](../c/).")
	f.Put("docs/own/.cairn.yaml", "url_base: https://own.example.com/\n")
	f.Put("docs/own/b.md", "text")
	found := f.documents()
	if link := found["docs/a.md"].Link; link("b.md#x") != "https://docs.example.com/b/#x" || link("../c/") != "https://docs.example.com/c/" || link("../../x.md") != "" {
		t.Errorf("links lead to %q, %q, %q", link("b.md#x"), link("../c/"), link("../../x.md"))
	}
	if got := found["docs/own/b.md"].Document.URL; got != "https://own.example.com/b.md" {
		t.Errorf("a folder with an address of its own is at %s", got)
	}
	f.options.URLBase = "https://git.example.com/blob/HEAD"
	if got := f.documents()["docs/a.md"].Document.URL; got != "https://git.example.com/blob/HEAD/docs/a.md" {
		t.Errorf("with url_base it is at %s", got)
	}
	f.options.FallbackURL = true
	if got := f.documents()["docs/a.md"].Document.URL; got != "https://docs.example.com/a/" {
		t.Errorf("with an address that gives way it is at %s", got)
	}
	f.Remove("mkdocs.yml")
	for change, err := range f.Connector().Sync(t.Context(), connect.Known{}) {
		f.must(err)
		if !strings.HasPrefix(change.Document.URL, "https://") {
			t.Errorf("%s is at %s", change.Document.Path, change.Document.URL)
		}
	}
}

func FuzzSites(f *testing.F) {
	f.Add("baseURL: https://x.example\nurl: https://x.example\nsite_url: https://x.example", "content/de/a.de.md")
	f.Add("routeBasePath: '/'", "i18n/de/docusaurus-plugin-content-docs/version-1/a.md")
	f.Fuzz(func(t *testing.T, config, name string) {
		for _, generator := range generators {
			base, publish := generator.read(config)
			made := &site{base: base, folder: ".", publish: publish}
			if address, _, ok := made.pageOf(name); ok && !strings.HasPrefix(address, base) {
				t.Errorf("%s is at %s, outside %s", name, address, base)
			}
		}
	})
}
