package repository

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// scpAddress is git's short way of writing an address of ssh: "git@github.com:owner/name.git".
var scpAddress = regexp.MustCompile(`^(?:[\w.-]+@)?([\w.-]+):([\w./~-]+)$`)

// forge is how a kind of site writes the addresses of files and lines.
type forge struct{ blob, line string }

var knownForges = map[string]forge{
	"github.com":    {"/blob/", "#L"},
	"gitlab.com":    {"/-/blob/", "#L"},
	"codeberg.org":  {"/src/commit/", "#L"},
	"gitea.com":     {"/src/commit/", "#L"},
	"bitbucket.org": {"/src/", "#lines-"},
}

// webOf returns the beginning of the addresses of a repository's files at a commit, and the
// repository's name; "" where the site of its remote is not a known one.
func webOf(remote, commit string) (web, name string) {
	host, path := splitRemote(remote)
	known, ok := knownForges[host]
	if !ok || commit == "" || !strings.Contains(path, "/") {
		return "", ""
	}
	site := url.URL{Scheme: "https", Host: host, Path: "/" + path + known.blob + commit + "/"}
	return site.String(), host + "/" + path
}

// splitRemote returns the host of a remote, and the path of its repository there.
func splitRemote(remote string) (host, path string) {
	if found := scpAddress.FindStringSubmatch(remote); found != nil && !IsAddress(remote) {
		host, path = found[1], found[2]
	} else if address, err := url.Parse(remote); err == nil {
		host, path = address.Hostname(), address.Path
	}
	return strings.ToLower(host), strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}

// remoteAddress returns the https address of a remote, nil where it has none.
func remoteAddress(remote string) *url.URL {
	if address, err := url.Parse(remote); err == nil && address.Scheme == "https" {
		address.User = nil
		return address
	}
	host, path := splitRemote(remote)
	if known := knownForges[host]; known == (forge{}) || path == "" {
		return nil
	}
	return &url.URL{Scheme: "https", Host: host, Path: "/" + path}
}

// nameOf returns what a repository is called by its address.
func nameOf(address *url.URL) string {
	return address.Hostname() + strings.TrimSuffix(strings.TrimSuffix(address.Path, "/"), ".git")
}

// Link returns the address of a line of a file, or of the file for line 0; "" where Web is.
func Link(web, path string, line int) string {
	if web == "" {
		return ""
	}
	address := web + (&url.URL{Path: path}).EscapedPath()
	// A path of a file that begins with a colon's name would be written "./a:b".
	address = strings.Replace(address, web+"./", web, 1)
	if line > 0 {
		host, _, _ := strings.Cut(strings.TrimPrefix(web, "https://"), "/")
		anchor := knownForges[host].line
		if anchor == "" {
			anchor = "#L" // as the software has it that others run themselves
		}
		address += anchor + strconv.Itoa(line)
	}
	// Brackets would end a link in Markdown.
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(address)
}
