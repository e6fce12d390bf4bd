package config

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Source is a place that documents come from. Fields that mean nothing for its kind are zero.
type Source struct {
	Name string     `key:"name" form:"source name"` // unique; becomes the documents' knowledge.SourceID
	Kind SourceKind `key:"kind" oneof:"files git website github gitlab gitea conversation mcp confluence jira notion drive"`

	Path   string `key:"path" form:"path"`          // of files: absolute
	URL    string `key:"url" form:"source address"` // of all others
	Branch string `key:"branch" form:"name"`        // of git; "": the repository's own choice
	// Channel is the channel that a conversation is read from, as chat.ParseChannel reads it.
	Channel string `key:"channel" form:"channel"`
	// Command is the program of an MCP server that talks over its input and output, with its
	// arguments; none where it is reached at the address.
	Command []string `key:"command" form:"argument"`
	// Tools are those of an MCP server that are asked while a question is answered: their names,
	// or "read-only" for all that the server marks so and that take a question.
	Tools []string `key:"tools" form:"argument" unique:"true"`

	// Key is what the place knows us by: a token, or over SSH the file of a private key.
	Key        Key    `key:""`
	KnownHosts string `key:"known_hosts" form:"path"` // the keys of SSH servers, absolute
	// PrivateNetwork lets addresses be connected to that are not public.
	PrivateNetwork bool `key:"private_network" optional:"true"`

	// WebhookKey is the secret that a forge signs with what it tells of changes.
	WebhookKey WebhookKey `key:""`
	// MergeKey lets merge requests be opened of what people correct; without it corrections are shown.
	MergeKey MergeKey `key:""`
	// Parts are what is read of a forge's repositories, none: all. People are the addresses of
	// accounts there, "account=address".
	Parts  []string `key:"parts" oneof:"files wiki issues discussions releases" unique:"true"`
	People []string `key:"people" form:"account" unique:"true"`

	Include []string `key:"include" form:"pattern"`
	Exclude []string `key:"exclude" form:"pattern"`
	// SourceCode has source code read as well.
	SourceCode bool `key:"source_code" optional:"true"`
	// Pictures has the text in pictures read as well, where tesseract is installed.
	Pictures bool   `key:"pictures" optional:"true"`
	URLBase  string `key:"url_base" form:"link base"` // absolute, or "" for the source's own addresses

	// Pages, Depth and Languages bound what is read of a website; 0 and none are its defaults.
	Pages     int      `key:"max_pages" min:"1" max:"1000000" optional:"true"`
	Depth     int      `key:"max_depth" min:"1" max:"100" optional:"true"` // links from where it begins
	Languages []string `key:"languages" form:"language" unique:"true"`

	// Documents is the category that its documents are shown under.
	Documents        knowledge.Kind        `key:"kind_of_documents" oneof:"documentation code drive page conversation web"`
	MaxDocumentBytes int64                 `key:"max_document_bytes" form:"size" default:"32MiB" min:"1KiB" max:"1GiB"`
	Audience         []knowledge.Principal `key:"audience" form:"principal"` // none: public
	Owner            string                `key:"owner" form:"owner"`        // of documents that name none
	// Owners look after the collection.
	Owners []knowledge.Principal `key:"owners" form:"principal"`

	// Every is how often cairn serve reads the source, 0: as its kind has it, see Interval. Watch
	// has it read a folder as soon as something in it changes.
	Every  time.Duration `key:"every" form:"interval"`
	Watch  bool          `key:"watch" optional:"true"`
	Paused bool          `key:"paused" optional:"true"`

	// DigestChannel is where cairn serve posts each week what the source's documents lack, as
	// chat.ParseChannel reads it; "": nowhere.
	DigestChannel string `key:"digest_channel" form:"channel"`
	// DigestDay, DigestTime and DigestZone are when it does, "" as FindDigestDue has it.
	DigestDay  Weekday `key:"digest_day" oneof:"monday tuesday wednesday thursday friday saturday sunday"`
	DigestTime string  `key:"digest_time" form:"time of day"` // "15:04"
	DigestZone string  `key:"digest_zone" form:"time zone"`   // "Europe/Berlin"

	// Added tells that cairn sources keeps it, not the configuration file; Suspended, that
	// cairn sources paused it.
	Added, Suspended bool
}

// IsPaused reports whether the source is not read for now, by its settings or by cairn sources.
func (s Source) IsPaused() bool { return s.Paused || s.Suspended }

// SourceKind says which connector reads a source.
type SourceKind string

// The kinds of sources: a folder of documents, a git repository, a website, repositories on a forge.
const (
	SourceFiles   SourceKind = "files"
	SourceGit     SourceKind = "git"
	SourceWebsite SourceKind = "website"
	SourceGitHub  SourceKind = "github"
	SourceGitLab  SourceKind = "gitlab"
	SourceGitea   SourceKind = "gitea"
	// SourceConversation is a channel of Slack or Discord, whose answered threads are documents.
	SourceConversation SourceKind = "conversation"
	// SourceMCP is a server of the Model Context Protocol, whose resources are documents.
	SourceMCP SourceKind = "mcp"
	// SourceConfluence is a site of Confluence Cloud, or one space of it.
	SourceConfluence SourceKind = "confluence"
	// SourceJira is a site of Jira Cloud, or one project of it.
	SourceJira SourceKind = "jira"
	// SourceNotion is what an integration of Notion may read.
	SourceNotion SourceKind = "notion"
	// SourceDrive is a folder or a shared drive of Google Drive.
	SourceDrive SourceKind = "drive"
)

// SourceKinds are all kinds.
var SourceKinds = []SourceKind{SourceFiles, SourceGit, SourceWebsite, SourceGitHub, SourceGitLab, SourceGitea, SourceConversation, SourceMCP, SourceConfluence, SourceJira, SourceNotion, SourceDrive}

var forgeKinds = []SourceKind{SourceGitHub, SourceGitLab, SourceGitea}

// IsForge reports whether sources of the kind are repositories with their issues.
func (k SourceKind) IsForge() bool { return slices.Contains(forgeKinds, k) }

// IsAtlassian reports whether sources of the kind are sites of Atlassian's.
func (k SourceKind) IsAtlassian() bool { return k == SourceConfluence || k == SourceJira }

// TellsReaders reports whether sources of the kind tell who may read what is there.
func (k SourceKind) TellsReaders() bool { return k.IsForge() || k.IsAtlassian() }

// publicForges are the kinds of forges by their hosts.
var publicForges = map[string]SourceKind{
	"github.com": SourceGitHub, "gitlab.com": SourceGitLab, "codeberg.org": SourceGitea, "gitea.com": SourceGitea,
}

const (
	defaultEvery = time.Hour         // of a source that is not on this machine
	never        = time.Duration(-1) // in Source.Every
)

// kindOf says of a setting which kinds of sources it means something for; all where it is not
// listed.
var kindOf = map[string][]SourceKind{
	"path": {SourceFiles}, "watch": {SourceFiles},
	"url": withForges(SourceGit, SourceWebsite, SourceMCP, SourceConfluence, SourceJira, SourceNotion, SourceDrive), "private_network": withForges(SourceGit, SourceWebsite, SourceMCP, SourceConfluence, SourceJira, SourceNotion, SourceDrive),
	"branch": {SourceGit}, "known_hosts": {SourceGit},
	"key_env": withForges(SourceGit, SourceWebsite, SourceMCP, SourceConfluence, SourceJira, SourceNotion, SourceDrive), "key_file": withForges(SourceGit, SourceWebsite, SourceMCP, SourceConfluence, SourceJira, SourceNotion, SourceDrive),
	"merge_key_env": {SourceGitea}, "merge_key_file": {SourceGitea},
	"webhook_key_env": forgeKinds, "webhook_key_file": forgeKinds, "parts": forgeKinds, "people": withForges(SourceConfluence, SourceJira),
	"channel": {SourceConversation}, "command": {SourceMCP}, "tools": {SourceMCP},
	"max_pages": {SourceWebsite}, "max_depth": {SourceWebsite}, "languages": {SourceWebsite},
	"url_base": {SourceFiles, SourceGit}, "pictures": {SourceFiles, SourceGit}, "source_code": withForges(SourceFiles, SourceGit),
	"include": withForges(SourceFiles, SourceGit, SourceWebsite, SourceConversation, SourceMCP), "exclude": withForges(SourceFiles, SourceGit, SourceWebsite, SourceConversation, SourceMCP),
}

func withForges(kinds ...SourceKind) []SourceKind { return append(kinds, forgeKinds...) }

// notionHosts are where people open pages of Notion.
var notionHosts = []string{"notion.so", "www.notion.so", "app.notion.com"}

// driveHost is where people open folders of Google Drive.
const driveHost = "drive.google.com"

// GuessSourceKind says what a place looks like: an address that ends in .git or is one of SSH is
// a repository, one of a well-known forge, of Confluence, Jira, Notion or Google Drive is of its kind,
// another one a website, anything else a folder.
func GuessSourceKind(place string) SourceKind {
	switch user, _, isSSH := strings.Cut(place, "@"); {
	case IsChannel(place):
		return SourceConversation
	case strings.HasPrefix(place, "ssh://"), isSSH && !strings.ContainsAny(user, "/:"):
		return SourceGit
	case !strings.HasPrefix(place, "https://") && !strings.HasPrefix(place, "http://"):
		return SourceFiles
	case strings.HasSuffix(strings.TrimSuffix(place, "/"), ".git"):
		return SourceGit
	}
	address, err := url.Parse(place)
	if err != nil {
		return SourceWebsite
	}
	host := strings.ToLower(address.Host)
	path := strings.Trim(address.Path, "/")
	forge, isForge := publicForges[host]
	isAtlassian := strings.HasSuffix(host, ".atlassian.net")
	switch {
	case slices.Contains(notionHosts, host):
		return SourceNotion
	case host == driveHost:
		return SourceDrive
	case isForge && path != "":
		return forge
	case isAtlassian && (path == "wiki" || strings.HasPrefix(path, "wiki/")):
		return SourceConfluence
	case isAtlassian:
		return SourceJira
	}
	return SourceWebsite
}

// IsChannel reports whether a place is a channel of Slack or Discord.
func IsChannel(place string) bool {
	return strings.HasPrefix(place, "slack:") || strings.HasPrefix(place, "discord:")
}

// readChannel reads the name of a channel.
func readChannel(text string, _ base) (string, error) {
	channel, err := chat.ParseChannel(text)
	return string(channel), err
}

// readArgument reads a word of a command.
func readArgument(text string, _ base) (string, error) {
	if text == "" || len(text) > 4096 || strings.ContainsAny(text, "\x00\n\r") {
		return "", errors.New("want a program or an argument of it, on one line")
	}
	return text, nil
}

// PlaceKey is the setting that says where a source of a kind is.
func (k SourceKind) PlaceKey() string {
	switch k {
	case SourceFiles:
		return "path"
	case SourceConversation:
		return "channel"
	}
	return "url"
}

// Place is where the source is: its folder or its address. Two sources of one place differ in
// their names alone.
func (s Source) Place() string {
	switch s.Kind {
	case SourceFiles:
		return s.Path
	case SourceConversation:
		return s.Channel
	}
	if len(s.Command) > 0 {
		return strings.Join(s.Command, " ")
	}
	return s.URL
}

// Interval is how often the source is read; 0: never by itself.
func (s Source) Interval() time.Duration {
	switch {
	case s.Every == never:
		return 0
	case s.Every > 0:
		return s.Every
	case s.Kind == SourceFiles:
		return 0
	}
	return defaultEvery
}

// ReadSource reads one source from the texts of its keys, as they would stand in a file in dir,
// and gives all that is wrong with it.
func (h Host) ReadSource(dir string, texts map[string][]string) (Source, error) {
	var source Source
	var faults []error
	setDefaults(&source, sourceSettings)
	for _, s := range sourceSettings {
		for _, text := range texts[s.key] {
			if err := s.set(&source, text, base{dir: dir, home: h.Home}); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", s.key, err))
			}
		}
	}
	found := source.unsuited(func(key string) bool { return len(texts[key]) > 0 })
	if len(faults)+len(found) == 0 {
		found = source.complete(h)
	}
	for _, f := range found {
		faults = append(faults, fmt.Errorf("%s: %w", f.key, f.err))
	}
	return source, errors.Join(faults...)
}

// sources reads the list of sources. added says that cairn sources keeps it.
func (d *decoder) sources(config *Config, node ast.Node, added bool) {
	d.entries(node, sourcesKey, "- name: …", func(prefix string, entry ast.Node) {
		source := Source{Added: added}
		setDefaults(&source, sourceSettings)
		before := len(d.faults)
		given := d.readEntry(&source, place{prefix, entry}, sourceSettings, "name", "kind")
		if slices.ContainsFunc(config.Sources, func(other Source) bool { return source.Name != "" && other.Name == source.Name }) {
			d.fault(entry, prefix+"name", fmt.Errorf("%q: another source has this name", source.Name))
		}
		found := source.unsuited(func(key string) bool { return given[key] != nil })
		if len(d.faults) == before && len(found) == 0 { // else it may follow from them
			found = source.complete(d.host)
		}
		for _, f := range found {
			d.fault(entry, prefix+f.key, f.err)
		}
		config.Sources = append(config.Sources, source)
	})
}

// unsuited gives the keys that the source's kind wants and that are missing, and those that mean
// nothing for it. A source without a kind has none.
func (s *Source) unsuited(given func(key string) bool) []fault {
	var faults []fault
	if s.Kind == "" {
		return nil
	}
	for _, key := range keysOf(sourceSettings) {
		kinds, ok := kindOf[key]
		if ok && !slices.Contains(kinds, s.Kind) && given(key) {
			faults = append(faults, fault{key, fmt.Errorf("means nothing for a source of the kind %s: remove it", s.Kind)})
		}
	}
	switch place := s.Kind.PlaceKey(); {
	case s.Kind == SourceMCP && given("command") && given(place):
		faults = append(faults, fault{place, errors.New("command says already where the server is: keep one of them")})
	case s.Kind == SourceMCP && given("command"):
	case !given(place):
		faults = append(faults, fault{place, errors.New("is missing")})
	}
	return faults
}

// complete sets what follows from the kind, reads the key, and gives what does not fit together.
func (s *Source) complete(host Host) []fault {
	var faults []fault
	if s.Documents == "" {
		s.Documents = knowledge.KindDocumentation
		switch s.Kind {
		case SourceWebsite:
			s.Documents = knowledge.KindWeb
		case SourceConversation:
			s.Documents = knowledge.KindConversation
		case SourceDrive:
			s.Documents = knowledge.KindDrive
		}
	}
	if _, err := s.AudienceOf(); err != nil {
		faults = append(faults, fault{"audience", err})
	}
	if s.Kind == SourceNotion && len(s.Audience) == 0 {
		faults = append(faults, fault{"audience", errors.New("is missing: Notion does not tell who may read a page, so say whom the pages are for that are shared with the integration, such as team:slack:T0123ABCD or public")})
	}
	if s.Kind == SourceDrive && len(s.Audience) == 0 {
		faults = append(faults, fault{"audience", errors.New("is missing: Google Drive does not tell a service account who may read a file, so say whom the files of the folder are for, such as team:slack:T0123ABCD or public")})
	}
	if s.Kind == SourceConversation && len(s.Audience) > 0 {
		faults = append(faults, fault{"audience", errors.New("means nothing for a source of the kind conversation: what is said in a channel is for those who may read it there")})
	}
	return append(faults, s.completeAddress(host)...)
}

// completeAddress checks the address against the kind, and reads the key.
func (s *Source) completeAddress(host Host) []fault {
	address, err := url.Parse(s.URL)
	if s.URL == "" || err != nil {
		return nil
	}
	overSSH := address.Scheme == "ssh"
	switch {
	case overSSH && s.Kind != SourceGit:
		return []fault{{"url", fmt.Errorf("a source of the kind %s has an address that starts with https://", s.Kind)}}
	case overSSH && (s.Key.File == "" || s.KnownHosts == ""):
		return []fault{{"key_file", errors.New("over SSH name the private key of a deploy key with key_file, and the server's own keys with known_hosts (`ssh-keyscan HOST` prints them: compare them with those that the server's documentation gives)")}}
	case overSSH && s.Key.Env != "":
		return []fault{{"key_env", errors.New("a private key stands in a file: name it with key_file")}}
	case overSSH:
		return nil // the connector reads the file
	case address.Scheme == "http" && !s.PrivateNetwork:
		return []fault{{"url", errors.New("want https://; http:// is for a private_network alone")}}
	case address.Scheme == "http" && (s.Key != Key{} || s.MergeKey != MergeKey{}):
		return []fault{{"url", errors.New("a key is sent over https:// alone")}}
	}
	return s.findKey(host)
}

// readAccount reads an account on a forge with the address of the person: "ada=ada@example.com".
func readAccount(text string, _ base) (string, error) {
	account, address, ok := strings.Cut(text, "=")
	read, err := mail.ParseAddress(address)
	if !ok || account == "" || strings.ContainsAny(account, " /@") || err != nil || read.Address != address {
		return "", fmt.Errorf("%.100q: want an account and an address, such as ada=ada@example.com", text)
	}
	return text, nil
}

// AccountAddresses gives the addresses of accounts on a forge, by their names.
func (s Source) AccountAddresses() map[string]string {
	addresses := make(map[string]string, len(s.People))
	for _, entry := range s.People {
		account, address, _ := strings.Cut(entry, "=")
		addresses[account] = address
	}
	return addresses
}

// readSourceAddress reads the address of a repository or a website; git's short form of SSH,
// git@host:team/app.git, is written out.
func readSourceAddress(text string, _ base) (string, error) {
	refused := fmt.Errorf("%.200q: want an address such as https://git.example.com/team/app.git, without a name, a password, a query or a fragment", text)
	if user, rest, ok := strings.Cut(text, "@"); ok && !strings.Contains(text, "://") {
		host, path, ok := strings.Cut(rest, ":")
		if !ok || user == "" || strings.ContainsAny(user, "/:") {
			return "", refused
		}
		text = "ssh://" + user + "@" + host + "/" + strings.TrimPrefix(path, "/")
	}
	address, err := url.Parse(text)
	if err != nil || address.Opaque != "" || address.RawQuery != "" || address.Fragment != "" || !isHost(address.Hostname()) {
		return "", refused
	}
	switch address.Scheme {
	case "https", "http":
		if address.User != nil {
			return "", refused
		}
	case "ssh":
		if _, hasPassword := address.User.Password(); hasPassword || address.User.Username() == "" {
			return "", fmt.Errorf("%.200q: want the name of the user, mostly git, and no password: git@git.example.com:team/app.git", text)
		}
	default:
		return "", refused
	}
	address.Host = strings.ToLower(address.Host)
	return address.String(), nil
}

// intervalForm is a time from a minute to 90 days, or "never".
type intervalForm struct{}

const neverText = "never"

func (intervalForm) set(field reflect.Value, text string, from base) error {
	if text == neverText {
		field.SetInt(int64(never))
		return nil
	}
	if err := (durationForm{least: time.Minute, most: 90 * 24 * time.Hour}).set(field, text, from); err != nil {
		return fmt.Errorf("%w, or %s", err, neverText)
	}
	return nil
}

func (intervalForm) get(field reflect.Value) []string {
	if field.Interface() == never {
		return []string{neverText}
	}
	return durationForm{}.get(field)
}

// isHost reports whether a text is a DNS name or the address of a machine.
func isHost(host string) bool {
	if hostName.MatchString(strings.ToLower(host)) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// readLanguage reads a language, with a region where that tells versions of a site apart.
var readLanguage = matchText(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`, errors.New("want a language such as en or pt-BR"))
