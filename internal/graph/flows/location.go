package flows

import (
	"regexp"
	"strings"
)

// Place is a kind of place that documents are read from.
type Place string

// The places: the files that came with the message or stand in its thread, a folder
// inside one that may be read, a collection of the index.
const (
	Attached   Place = "attachments"
	Folder     Place = "folder"
	Collection Place = "collection"
)

// Location is where the documents are that a run reads.
type Location struct {
	Place Place  `json:"place"`
	Name  string `json:"name,omitempty"` // "./docs" of a Folder, "handbook" of a Collection
}

// String names the location as people write it.
func (l Location) String() string {
	switch l.Place {
	case Folder:
		return l.Name
	case Collection:
		return "@" + l.Name
	}
	return "the attached files"
}

var (
	collectionName = regexp.MustCompile(`^@([\p{L}\p{N}][\p{L}\p{N}._-]{0,63})(?:[,:]?\s+|[,:]?$)`)
	folderName     = regexp.MustCompile(`^(?:\.{1,2}(?:/[^\s"]*)?|/[^\s"]+)(?:\s+|$)`)
	quotedFolder   = regexp.MustCompile(`^"((?:\.{1,2}/|/)[^"\n]+|\.{1,2})"(?:\s+|$)`)
)

// maxFolderName is the length of a folder's name, in bytes.
const maxFolderName = 1024

// Located gives the place that a request's documents are in, and its text without it.
func (r Request) Located() (location Location, text string) {
	if r.Location.Place != "" {
		return r.Location, r.Text
	}
	return ParseLocation(r.Text)
}

// ParseLocation parts what people write behind a subcommand into the location that it
// begins with and the rest: "@handbook what are the risks?" means a collection, "./docs
// what …" a folder ("/srv/docs", "..", and in double quotes with spaces in it). Text that
// begins with neither is about the attached files, and is the rest as a whole.
func ParseLocation(text string) (location Location, rest string) {
	text = strings.TrimSpace(text)
	if found := collectionName.FindStringSubmatch(text); found != nil {
		return Location{Place: Collection, Name: strings.TrimRight(found[1], ".")}, strings.TrimSpace(text[len(found[0]):])
	}
	name, length := "", 0
	if found := quotedFolder.FindStringSubmatch(text); found != nil {
		name, length = found[1], len(found[0])
	} else if found := folderName.FindString(text); found != "" {
		name, length = strings.TrimSpace(found), len(found)
	}
	if name == "" || len(name) > maxFolderName {
		return Location{Place: Attached}, text
	}
	return Location{Place: Folder, Name: name}, strings.TrimSpace(text[length:])
}
