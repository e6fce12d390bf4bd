package website

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// knownPage is what a document's hash tells of its page: all that is needed to ask whether it
// changed, so that nothing else has to be kept.
type knownPage struct {
	content  string // hash
	settings string // hash of the options that hold for it
	depth    int    // links from where the site begins
	listed   string // the sitemap's lastmod, "" where it has none
	etag     string
	modified string // the Last-Modified header
}

// hashVersion begins the hashes of this form. One of another is of a page that is read anew.
const hashVersion = "w1"

// maxValidator bounds what a server may have kept for one page, in bytes.
const maxValidator = 200

// String writes a hash.
func (p knownPage) String() string {
	return strings.Join([]string{hashVersion, p.content, p.settings, strconv.Itoa(p.depth), encode(p.listed), encode(p.etag), encode(p.modified)}, " ")
}

func encode(text string) string {
	if len(text) > maxValidator {
		text = ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text)) + "."
}

func decode(text string) string {
	decoded, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(text, "."))
	if err != nil || len(decoded) > maxValidator {
		return ""
	}
	return string(decoded)
}

// parseHash reads a hash; of one of another form nothing is known.
func parseHash(hash string) knownPage {
	const fields = 7
	parts := strings.Split(hash, " ")
	if len(parts) != fields || parts[0] != hashVersion {
		return knownPage{}
	}
	depth, err := strconv.Atoi(parts[3])
	if err != nil || depth < 0 {
		return knownPage{}
	}
	return knownPage{content: parts[1], settings: parts[2], depth: depth, listed: decode(parts[4]), etag: decode(parts[5]), modified: decode(parts[6])}
}

func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// settingsHash stands for what holds for all documents of a site.
func settingsHash(options Options) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", options.Audience, options.Owner, options.Kind, options.Languages))
	return hex.EncodeToString(sum[:6])
}
