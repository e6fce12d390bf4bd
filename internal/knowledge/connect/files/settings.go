package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"cairn/internal/knowledge"
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
}

// folderSettings is a SettingsFile; what it does not say is inherited from the folder above.
type folderSettings struct {
	Audience []string `yaml:"audience"`
	Owner    *string  `yaml:"owner"`
	Kind     *string  `yaml:"kind"`
	URLBase  *string  `yaml:"url_base"`
	URLStyle *string  `yaml:"url_style"`
}

func (o Options) settings() *settings {
	return &settings{
		audience: o.Audience.OrPublic(), owner: o.Owner, kind: o.Kind, urlBase: o.URLBase, urlStyle: URLByFile, folder: ".",
	}
}

// settingsOf gives what holds in a folder, given what holds above it. Where its file can't
// be read or says something unknown, nobody is shown the documents below until it is
// mended: it may have said that they are not for everybody.
func (p *place) settingsOf(folder string, above *settings) (*settings, error) {
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

func (p *place) readSettings(name string) (data []byte, err error) {
	opened, err := p.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := p.root.Lstat(name); linkErr == nil {
			return nil, errors.New("it is a link to a file that is not there: mend or remove it")
		}
		return nil, err
	}
	if err != nil {
		return nil, unopened(err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	info, err := opened.Stat()
	if err != nil {
		return nil, unopened(err)
	}
	if err := notRegular(info); err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(opened, maxSettings+1))
	if err != nil {
		return nil, unopened(err)
	}
	if len(data) > maxSettings {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSettings)
	}
	return data, nil
}

// parseSettings reads a SettingsFile strictly: what it does not know is an error.
func parseSettings(data []byte, folder string, above *settings) (*settings, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8 text")
	}
	var given folderSettings
	decoder := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	err := decoder.Decode(&given)
	if errors.Is(err, io.EOF) {
		return above, nil
	}
	if err != nil {
		return nil, errors.New(yaml.FormatError(err, false, false))
	}
	if err := decoder.Decode(&folderSettings{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("it holds more than one YAML document")
	}
	own := *above
	return &own, own.apply(given, folder)
}

func (s *settings) apply(given folderSettings, folder string) error {
	if given.Audience != nil {
		principals := make([]knowledge.Principal, len(given.Audience))
		var err error
		for i, text := range given.Audience {
			if principals[i], err = knowledge.ParsePrincipal(text); err != nil {
				return fmt.Errorf("audience: %w", err)
			}
		}
		if s.audience, err = knowledge.NewAudience(principals...); err != nil {
			return fmt.Errorf("audience: %w", err)
		}
	}
	if given.Owner != nil {
		if len(*given.Owner) > maxOwner || strings.ContainsFunc(*given.Owner, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			return fmt.Errorf("owner: want a name of at most %d characters that can be printed", maxOwner)
		}
		s.owner = *given.Owner
	}
	if given.Kind != nil {
		s.kind = knowledge.Kind(*given.Kind)
		switch s.kind {
		case knowledge.KindDocumentation, knowledge.KindCode, knowledge.KindDrive, knowledge.KindPage, knowledge.KindConversation, knowledge.KindWeb:
		default:
			return fmt.Errorf("kind: %.40q: want documentation, code, drive, page, conversation or web", *given.Kind)
		}
	}
	return s.applyAddress(given, folder)
}

func (s *settings) applyAddress(given folderSettings, folder string) error {
	if given.URLBase != nil {
		base, err := url.Parse(*given.URLBase)
		if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
			return fmt.Errorf("url_base: %.200q: want an address that starts with http:// or https://", *given.URLBase)
		}
		s.urlBase, s.folder = *given.URLBase, folder
	}
	if given.URLStyle != nil {
		s.urlStyle = URLStyle(*given.URLStyle)
		if s.urlStyle != URLByFile && s.urlStyle != URLByPage {
			return fmt.Errorf("url_style: %.40q: want file or page", *given.URLStyle)
		}
	}
	return nil
}

// maxOwner is the length of an owner's name in bytes.
const maxOwner = 200

// address is where a document of the folder can be opened.
func (s *settings) address(name string) string {
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

// pageOf is the path of the page that a site generator makes of a file.
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

// hash is what changes when what is indexed of a document has to: its content, or what
// holds for it.
func (s *settings) hash(content []byte, address string) string {
	sum := sha256.Sum256(content)
	rest := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", s.audience, s.owner, s.kind, address))
	return hex.EncodeToString(sum[:]) + "-" + hex.EncodeToString(rest[:8])
}
