package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"syscall"
)

// site is how a generator of sites publishes the files of a folder, as its configuration says.
type site struct {
	base   string // the published address, without a / at its end
	folder string // of the configuration, "." for the whole
	// publish gives the path of the page that is made of a file below the folder, and its language
	// where the path tells. ok is false for a file that is no page.
	publish func(name string) (page, language string, ok bool)
}

// maxSiteConfig is the size of a generator's configuration in bytes.
const maxSiteConfig = 1 << 20

// generators are the configurations of the generators that are known, in the order in which they
// are looked for.
var generators = []struct {
	files []string
	read  func(config string) (base string, publish func(name string) (page, language string, ok bool))
}{
	{[]string{"mkdocs.yml", "mkdocs.yaml"}, readMkDocs},
	{[]string{"docusaurus.config.js", "docusaurus.config.ts", "docusaurus.config.mjs"}, readDocusaurus},
	{[]string{".vitepress/config.ts", ".vitepress/config.mts", ".vitepress/config.js", ".vitepress/config.mjs"}, readVitePress},
	{[]string{"hugo.toml", "hugo.yaml", "hugo.json", "config.toml", "config.yaml", "config/_default/hugo.toml", "config/_default/config.toml"}, readHugo},
	{[]string{"conf.py"}, readSphinx},
}

// withSite adds to what holds in a folder how a generator publishes it, where the folder has the
// configuration of one that says where. A url_base that somebody set goes before it.
func (p *openedFolder) withSite(folder string, held *settings) *settings {
	if held.urlBase != "" && !held.baseIsFallback {
		return held
	}
	for _, generator := range generators {
		for _, name := range generator.files {
			config, err := p.readSiteConfig(path.Join(folder, name))
			if err != nil {
				continue
			}
			base, publish := generator.read(config)
			address, err := url.Parse(base)
			if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
				continue
			}
			own := *held
			own.site = &site{base: strings.TrimSuffix(base, "/"), folder: folder, publish: publish}
			return &own
		}
	}
	return held
}

func (p *openedFolder) readSiteConfig(name string) (config string, err error) {
	opened, err := p.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fs.ErrInvalid)
	}
	text, err := io.ReadAll(io.LimitReader(opened, maxSiteConfig))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return string(text), nil
}

// pageOf gives the address and the language of the page that is made of a file; ok is false for a
// file that is no page of the site.
func (s *site) pageOf(name string) (address, language string, ok bool) {
	if s.folder != "." {
		below, found := strings.CutPrefix(name, s.folder+"/")
		if !found {
			return "", "", false
		}
		name = below
	}
	page, language, ok := s.publish(name)
	if !ok {
		return "", "", false
	}
	segments := strings.Split(page, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return s.base + "/" + strings.Join(segments, "/"), language, true
}

// findSetting gives the first value of a setting in a configuration; patterns have one group.
func findSetting(config string, patterns ...*regexp.Regexp) string {
	for _, pattern := range patterns {
		if found := pattern.FindStringSubmatch(config); found != nil {
			return found[1]
		}
	}
	return ""
}

// setting finds a value that stands at the beginning of a line, behind a : or =, quoted or not.
func setting(key string) *regexp.Regexp {
	return regexp.MustCompile(`(?mi)^[ \t]*["']?` + key + `["']?[ \t]*[:=][ \t]*["'` + "`" + `]?([^"'` + "`" + `\s,#]+)`)
}

var (
	siteURL, docsDir, directoryURLs = setting("site_url"), setting("docs_dir"), setting("use_directory_urls")
	plainURL, baseURL, routeBase    = setting("url"), setting("baseUrl"), regexp.MustCompile(`routeBasePath:[ \t]*["']([^"']*)["']`)
	trailingSlash                   = setting("trailingSlash")
	sitemapHost, vitepressBase      = setting("hostname"), setting("base")
	cleanURLs                       = setting("cleanUrls")
	contentDir, contentLanguage     = setting("contentDir"), setting("defaultContentLanguage")
	languageInFolder                = setting("defaultContentLanguageInSubdir")
	sphinxBase, sphinxLanguage      = setting("html_baseurl"), setting("language")
	languageTag                     = regexp.MustCompile(`^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$`)
	orderPrefix                     = regexp.MustCompile(`^\d+[-_.]+(\D)`)
)

// markupStem cuts the ending of a file with markup.
func markupStem(name string, extensions ...string) (stem string, ok bool) {
	for _, extension := range extensions {
		if stem, found := strings.CutSuffix(name, extension); found {
			return stem, true
		}
	}
	return "", false
}

// isIndex reports whether a file stands for its folder.
func isIndex(base string) bool {
	return strings.EqualFold(base, "index") || strings.EqualFold(base, "readme") || base == "_index"
}

func readMkDocs(config string) (string, func(string) (string, string, bool)) {
	folder := findSetting(config, docsDir)
	if folder == "" {
		folder = "docs"
	}
	folder = path.Clean(folder)
	asFolders := findSetting(config, directoryURLs) != "false"
	return findSetting(config, siteURL), func(name string) (string, string, bool) {
		below, ok := strings.CutPrefix(name, folder+"/")
		stem, isMarkup := markupStem(below, ".md", ".markdown")
		if !ok || !isMarkup {
			return "", "", false
		}
		in, base := path.Split(stem)
		switch {
		case isIndex(base):
			return in, "", true
		case asFolders:
			return stem + "/", "", true
		}
		return stem + ".html", "", true
	}
}

func readDocusaurus(config string) (string, func(string) (string, string, bool)) {
	base := ""
	if host := findSetting(config, plainURL); host != "" {
		base = strings.TrimSuffix(host, "/") + "/" + strings.Trim(findSetting(config, baseURL), "/")
	}
	docs, end := "docs", ""
	if found := routeBase.FindStringSubmatch(config); found != nil {
		docs = strings.Trim(found[1], "/")
	}
	if findSetting(config, trailingSlash) == "true" {
		end = "/"
	}
	return base, func(name string) (string, string, bool) {
		stem, ok := markupStem(name, ".md", ".mdx")
		if !ok {
			return "", "", false
		}
		parts := strings.Split(stem, "/")
		language := ""
		if len(parts) > 3 && parts[0] == "i18n" && parts[2] == "docusaurus-plugin-content-docs" {
			language = parts[1]
			if parts = append([]string{"docs"}, parts[4:]...); strings.HasPrefix(strings.Split(stem, "/")[3], "version-") {
				parts = append([]string{"versioned_docs", strings.Split(stem, "/")[3]}, parts[1:]...)
			}
		}
		switch {
		case len(parts) > 1 && parts[0] == "docs":
			parts = parts[1:]
		case len(parts) > 2 && parts[0] == "versioned_docs":
			parts = append([]string{strings.TrimPrefix(parts[1], "version-")}, parts[2:]...)
		default:
			return "", "", false
		}
		for i := range parts {
			parts[i] = orderPrefix.ReplaceAllString(parts[i], "$1") // but a version keeps its numbers
		}
		last := len(parts) - 1
		page := path.Join(language, docs, path.Join(parts...))
		if isIndex(parts[last]) || last > 0 && parts[last] == parts[last-1] {
			page = path.Join(language, docs, path.Join(parts[:last]...))
			return strings.TrimPrefix(page+"/", "/"), language, true
		}
		return page + end, language, true
	}
}

func readVitePress(config string) (string, func(string) (string, string, bool)) {
	base := ""
	if host := findSetting(config, sitemapHost); host != "" {
		base = strings.TrimSuffix(host, "/") + "/" + strings.Trim(findSetting(config, vitepressBase), "/")
	}
	end := ".html"
	if findSetting(config, cleanURLs) == "true" {
		end = ""
	}
	return base, func(name string) (string, string, bool) {
		stem, ok := markupStem(name, ".md")
		in, last := path.Split(stem)
		switch {
		case !ok:
			return "", "", false
		case isIndex(last):
			return in, "", true
		}
		return stem + end, "", true
	}
}

func readHugo(config string) (string, func(string) (string, string, bool)) {
	folder := findSetting(config, contentDir)
	if folder == "" {
		folder = "content"
	}
	folder = path.Clean(folder)
	standard := strings.ToLower(findSetting(config, contentLanguage))
	if standard == "" {
		standard = "en"
	}
	inFolder := findSetting(config, languageInFolder) == "true"
	return findSetting(config, baseURL), func(name string) (string, string, bool) {
		below, ok := strings.CutPrefix(name, folder+"/")
		stem, isMarkup := markupStem(below, ".md", ".markdown", ".html", ".adoc", ".rst")
		if !ok || !isMarkup {
			return "", "", false
		}
		language := ""
		if ending := strings.TrimPrefix(path.Ext(stem), "."); languageTag.MatchString(ending) { // about.de.md
			language, stem = ending, strings.TrimSuffix(stem, "."+ending)
		} else if first, rest, found := strings.Cut(stem, "/"); found && languageTag.MatchString(first) && folder == "content" && isLanguageFolder(config, first) {
			language, stem = first, rest
		}
		in, base := path.Split(stem)
		page := stem + "/"
		if isIndex(base) {
			page = in
		}
		if language != "" && (inFolder || !strings.EqualFold(language, standard)) {
			page = language + "/" + page
		}
		return strings.ToLower(strings.ReplaceAll(page, " ", "-")), language, true
	}
}

// isLanguageFolder reports whether a configuration of Hugo has a folder below content as a language.
func isLanguageFolder(config, name string) bool {
	return regexp.MustCompile(`(?mi)^[ \t]*(?:\[languages\.` + regexp.QuoteMeta(name) + `\]|` + regexp.QuoteMeta(name) + `:[ \t]*$|"` + regexp.QuoteMeta(name) + `":[ \t]*\{)`).MatchString(config)
}

func readSphinx(config string) (string, func(string) (string, string, bool)) {
	language := findSetting(config, sphinxLanguage)
	if !languageTag.MatchString(language) {
		language = ""
	}
	return findSetting(config, sphinxBase), func(name string) (string, string, bool) {
		stem, ok := markupStem(name, ".rst", ".md")
		return stem + ".html", language, ok
	}
}
