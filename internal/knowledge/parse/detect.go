package parse

import (
	"bytes"
	"net/http"
	"path"
	"strings"
)

// binary is the media type of bytes that are no text and of no known format.
const binary = "application/octet-stream"

// DetectBytes is how much of a document's beginning Detect needs at most. The name
// of a zip archive's content may stand later; then the archive's own name decides.
const DetectBytes = 4096

// Detect says what a document is: by the bytes it begins with, and where those are
// text, by its name. What is not known is "application/octet-stream".
func Detect(name string, head []byte) string {
	if found := sniff(head); found != "" {
		if found == zipArchive {
			return zipped(name, head)
		}
		return found
	}
	extension := strings.ToLower(path.Ext(name))
	if extension == included { // by another page, as in "options.rst.inc"
		if mediaType, ok := textTypes[strings.ToLower(path.Ext(name[:len(name)-len(included)]))]; ok {
			return mediaType
		}
	}
	if mediaType, ok := textTypes[extension]; ok {
		return mediaType
	}
	if languages[extension] != "" {
		return Source
	}
	if looksLikeHTML(head) {
		return HTML
	}
	if extension == "" {
		return Plain
	}
	return "text/x-" + strings.TrimPrefix(extension, ".")
}

const (
	zipArchive = "application/zip"
	oleStorage = "application/x-ole-storage"

	// encryptedPackage is the name, in UTF-16, of the stream in which an Office file
	// with a password stands.
	encryptedPackage = "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"
)

// included is the extension, behind that of its format, of a file that pages include.
const included = ".inc"

// textTypes are the types of text files, which only their names tell apart.
var textTypes = map[string]string{
	".md": Markdown, ".markdown": Markdown, ".mdown": Markdown, ".mkd": Markdown, ".mdx": Markdown,
	".html": HTML, ".htm": HTML, ".xhtml": HTML,
	".txt": Plain, ".text": Plain, ".log": Plain, ".org": Plain,
	".rst": ReST, ".rest": ReST, ".adoc": AsciiDoc, ".asciidoc": AsciiDoc, ".asc": AsciiDoc,
	".pdf": Plain, ".docx": Plain, // text under a wrong name
	".eml": Mail,
	".csv": CSV, ".tsv": TSV, ".ipynb": Notebook,
}

// signatures are beginnings that tell a format for certain.
var signatures = []struct{ prefix, mediaType string }{
	{"PK\x03\x04", zipArchive},
	{"PK\x05\x06", zipArchive},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", oleStorage},
	{"\x7fELF", "application/x-executable"},
	{"{\\rtf", "application/rtf"},
	{"SQLite format 3\x00", "application/vnd.sqlite3"},
}

// sniff tells a format by the bytes; "" for text, whose format only a name tells.
func sniff(head []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.prefix)) {
			return s.mediaType
		}
	}
	if isPDF(head) {
		return PDF
	}
	if bytes.HasPrefix(head, []byte("MZ")) && isBinary(head) {
		return "application/vnd.microsoft.portable-executable"
	}
	if !isBinary(head) {
		return ""
	}
	found, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if strings.HasPrefix(found, "text/") {
		return binary
	}
	return found
}

// isPDF accepts some bytes in front of the header, as readers of PDF do.
func isPDF(head []byte) bool {
	at := bytes.Index(head[:min(len(head), 1024)], []byte("%PDF-"))
	return at == 0 || at > 0 && isBinary(head)
}

// isBinary says whether bytes are no text in any encoding that is read: they hold a
// NUL and are not UTF-16 with its mark, or many control characters.
func isBinary(content []byte) bool {
	head := content[:min(len(content), DetectBytes)]
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return false
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	controls := 0
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b && c != '\v' {
			controls++
		}
	}
	return controls > len(head)/20
}

// zipped tells what a zip archive is by the names of its first entries, or else by
// its own name.
func zipped(name string, head []byte) string {
	head = head[:min(len(head), DetectBytes)]
	for _, known := range []struct{ folder, extension, mediaType string }{
		{"word/", ".docx", DOCX},
		{"xl/", ".xlsx", XLSX},
		{"ppt/", ".pptx", PPTX},
		{"mimetypeapplication/vnd.oasis.opendocument.text", ".odt", "application/vnd.oasis.opendocument.text"},
		{"mimetypeapplication/epub+zip", ".epub", "application/epub+zip"},
	} {
		if bytes.Contains(head, []byte(known.folder)) || strings.EqualFold(path.Ext(name), known.extension) {
			return known.mediaType
		}
	}
	return zipArchive
}

// looksLikeHTML says whether a text is a page that merely lacks the name of one.
func looksLikeHTML(head []byte) bool {
	start := bytes.ToLower(bytes.TrimSpace(head[:min(len(head), 512)]))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}

// described is a media type in words, where it has better ones.
func described(mediaType string) string {
	switch {
	case mediaType == "", mediaType == binary:
		return "a binary file of an unknown format"
	case mediaType == zipArchive:
		return "a zip archive"
	case mediaType == "application/vnd.microsoft.portable-executable", mediaType == "application/x-executable":
		return "an executable program"
	case mediaType == oleStorage:
		return "a file of an old Office format (doc, xls, ppt, msg) or an Office document with a password"
	case strings.Contains(mediaType, "presentationml"):
		return "a PowerPoint presentation (PPTX)"
	case strings.HasPrefix(mediaType, "image/"):
		return "an image (" + mediaType + ")"
	}
	return "of the type " + strings.ToValidUTF8(mediaType, "?")
}
