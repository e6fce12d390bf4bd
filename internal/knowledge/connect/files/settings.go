package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// SettingsFile is the name of a file that says what holds for the documents of its folder
// and of the folders below. It is no document itself.
const SettingsFile = ".cairn.yaml"

// maxSettings is the size of a SettingsFile in bytes.
const maxSettings = 64 << 10

// URLStyle is how the address of a document follows from its path.
type URLStyle string

// The address of docs/x.md ends in docs/x.md, or in docs/x/ as site generators have it,
// where index.md, _index.md and README.md stand for their folder.
const (
	URLByFile URLStyle = "file"
	URLByPage URLStyle = "page"
)

// settings are what holds for the documents of one folder.
type settings struct {
	audience knowledge.Audience
	owner    string
	kind     knowledge.Kind
	urlBase  string // "": file addresses
	urlStyle URLStyle
	folder   string // that urlBase stands for, "." for the whole
	// baseIsFallback tells that urlBase gives way to the address of a site.
	baseIsFallback bool
	site           *site // nil: the folder is none that a known generator publishes
}

func (o Options) newSettings() *settings {
	return &settings{
		audience: o.Audience.OrPublic(), owner: o.Owner, kind: o.Kind, urlBase: o.URLBase, urlStyle: URLByFile, folder: ".",
		baseIsFallback: o.FallbackURL,
	}
}

// settingsOf returns what holds in a folder, given what holds above it. Where its file can't
// be read or says something unknown, nobody is shown the documents below until it is
// mended: it may have said that they are not for everybody.
func (p *openedFolder) settingsOf(folder string, above *settings) (*settings, error) {
	data, err := p.readSettings(path.Join(folder, SettingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return above, nil
	}
	var own *settings
	if err == nil {
		own, err = parseSettings(data, folder, above)
	}
	if err != nil {
		hidden := *above
		hidden.audience = knowledge.HiddenAudience
		return &hidden, fmt.Errorf("%w; until that is mended, nobody is shown the documents of its folder", err)
	}
	if own.audience == knowledge.PublicAudience && p.options.Audience.OrPublic() != knowledge.PublicAudience {
		hidden := *above
		hidden.audience = knowledge.HiddenAudience
		return &hidden, errors.New("it makes public what the configuration restricts: give the folder a source of its own; until then, nobody is shown its documents")
	}
	return own, nil
}

func (p *openedFolder) readSettings(name string) (data []byte, err error) {
	opened, err := p.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := p.root.Lstat(name); linkErr == nil {
			return nil, errors.New("it is a link to a file that is not there: mend or remove it")
		}
		return nil, err
	}
	if err != nil {
		return nil, openError(err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	info, err := opened.Stat()
	if err != nil {
		return nil, openError(err)
	}
	if err := notRegular(info); err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(opened, maxSettings+1))
	if err != nil {
		return nil, openError(err)
	}
	if len(data) > maxSettings {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSettings)
	}
	return data, nil
}

// parseSettings returns what holds in a folder by its SettingsFile.
func parseSettings(data []byte, folder string, above *settings) (*settings, error) {
	given, err := decodeSettings(data)
	if err != nil {
		return nil, err
	}
	own := *above
	for _, key := range settingsKeys {
		if values, ok := given[key]; ok {
			if err := own.setOption(key, values, folder); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return &own, nil
}

func (s *settings) setOption(key string, values []string, folder string) error {
	if key == audienceKey {
		return s.setAudience(values)
	}
	switch value := values[0]; key {
	case ownerKey:
		if len(value) > maxOwner || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			return fmt.Errorf("want a name of at most %d characters that can be printed", maxOwner)
		}
		s.owner = value
	case kindKey:
		s.kind = knowledge.Kind(value)
		if !slices.Contains(fileKinds, s.kind) {
			return fmt.Errorf("%.40q: want documentation, code, drive, page, conversation or web", value)
		}
	case urlBaseKey:
		base, err := url.Parse(value)
		if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
			return fmt.Errorf("%.200q: want an address that starts with http:// or https://", value)
		}
		s.urlBase, s.folder, s.baseIsFallback, s.site = value, folder, false, nil
	case urlStyleKey:
		s.urlStyle = URLStyle(value)
		if s.urlStyle != URLByFile && s.urlStyle != URLByPage {
			return fmt.Errorf("%.40q: want file or page", value)
		}
	}
	return nil
}

var fileKinds = []knowledge.Kind{
	knowledge.KindDocumentation, knowledge.KindCode, knowledge.KindDrive, knowledge.KindPage, knowledge.KindConversation, knowledge.KindWeb,
}

func (s *settings) setAudience(texts []string) error {
	principals := make([]knowledge.Principal, len(texts))
	var err error
	for i, text := range texts {
		if principals[i], err = knowledge.ParsePrincipal(text); err != nil {
			return err
		}
	}
	s.audience, err = knowledge.NewAudience(principals...)
	return err
}

// maxOwner is the length of an owner's name in bytes.
const maxOwner = 200

// addressOf returns where a document of the folder can be opened.
func (s *settings) addressOf(name string) string {
	if s.site != nil {
		if address, _, ok := s.site.pageOf(name); ok {
			return address
		}
	}
	if s.folder != "." {
		name = strings.TrimPrefix(name, s.folder+"/")
	}
	if s.urlStyle == URLByPage {
		name = pageOf(name)
	}
	segments := strings.Split(name, "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	return strings.TrimSuffix(s.urlBase, "/") + "/" + strings.Join(segments, "/")
}

// linkAddress returns where a link in a document leads, "" where that is not known: its target
// is relative to the document's file, or in a site's own form to the address of its page.
func (s *settings) linkAddress(name, target string) string {
	link, err := url.Parse(target)
	if s.urlBase == "" && s.site == nil || err != nil || link.IsAbs() || link.Host != "" || link.RawQuery != "" {
		return ""
	}
	fragment := ""
	if link.EscapedFragment() != "" {
		fragment = "#" + link.EscapedFragment()
	}
	switch {
	case link.Path == "":
		return s.addressOf(name) + fragment
	case path.Ext(link.Path) == "" || strings.HasPrefix(link.Path, "/"):
		page, err := url.Parse(s.addressOf(name))
		if err != nil || s.urlStyle != URLByPage && s.site == nil {
			return ""
		}
		return page.ResolveReference(link).String()
	}
	file := path.Join(path.Dir(name), link.Path)
	if file == ".." || strings.HasPrefix(file, "../") || s.folder != "." && !strings.HasPrefix(file, s.folder+"/") {
		return ""
	}
	return s.addressOf(file) + fragment
}

// pageOf returns the path of the page that a site generator makes of a file.
func pageOf(name string) string {
	extension := strings.ToLower(path.Ext(name))
	if extension != ".md" && extension != ".mdx" && extension != ".markdown" && extension != ".rst" && extension != ".adoc" {
		return name
	}
	name = name[:len(name)-len(extension)]
	folder, base := path.Split(name)
	switch strings.ToLower(base) {
	case "index", "_index", "readme":
		return folder
	}
	return name + "/"
}

// contentHash returns what changes when what is indexed of a document has to: its content, or what
// holds for it.
func (s *settings) contentHash(content []byte, address string) string {
	sum := sha256.Sum256(content)
	rest := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", s.audience, s.owner, s.kind, address))
	return hex.EncodeToString(sum[:]) + "-" + hex.EncodeToString(rest[:8])
}
