package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	pageSize = 1000 // files of one response, the most that Drive gives
	maxPages = 1000 // responses of one folder
	maxFiles = 200_000
	// maxFolders and maxDepth bound the folders below the source's. Drive itself nests 100 deep.
	maxFolders = 20_000
	maxDepth   = 100
)

const (
	googleType   = "application/vnd.google-apps."
	folderType   = googleType + "folder"
	shortcutType = googleType + "shortcut"
)

// file is a file or a folder as Drive lists it.
type file struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Type     string    `json:"mimeType"`
	Modified time.Time `json:"modifiedTime"`
	Version  string    `json:"version"`
	Size     int64     `json:"size,string"` // 0: not told
	Checksum string    `json:"md5Checksum"` // of content that is no Google document
	Link     string    `json:"webViewLink"`
	Trashed  bool      `json:"trashed"`
	Parents  []string  `json:"parents"`
	Owners   []struct {
		Name string `json:"displayName"`
	} `json:"owners"` // none in a shared drive

	path string // below the source's folder
}

const fileFields = "id,name,mimeType,modifiedTime,version,size,md5Checksum,webViewLink,trashed,parents,owners(displayName)"

// folder is where a folder is.
type folder struct {
	parent  string // its id
	name    string
	trashed bool
}

// catalog is what is in a folder and below it.
type catalog struct {
	files   []file         // documents in order of their paths
	skipped map[string]int // what else is there, by reason
}

// cleanName makes a name of Drive one part of a path.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '/' {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	return cmp.Or(strings.TrimSpace(name), "Untitled")
}

// check reports whether Drive told what is needed of a file.
func (f file) check() error {
	if !safeID.MatchString(f.ID) || f.Type == "" || f.Modified.IsZero() {
		return fmt.Errorf("a file %.60q has no usable id, type or time", f.ID)
	}
	return nil
}

// listFiles lists what is in the source's folder and below it.
func (a *asker) listFiles(ctx context.Context) (*catalog, error) {
	root, err := a.findFile(ctx, a.at.root)
	if err != nil {
		return nil, err
	}
	if root.Type != folderType || root.Trashed {
		return nil, errors.New("the source's address is not that of a folder, or the folder is in the trash")
	}
	in := &catalog{skipped: make(map[string]int)}
	type level struct {
		id, path string
		depth    int
	}
	seen := map[string]bool{root.ID: true}
	for queue := []level{{id: root.ID}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		err := a.listFolder(ctx, at.id, func(one file) error {
			if seen[one.ID] {
				return nil // a file of old may be in two folders
			}
			seen[one.ID] = true
			one.path = at.path + cleanName(one.Name)
			if one.Type != folderType {
				return in.add(one)
			}
			a.known[one.ID] = folder{parent: at.id, name: one.Name}
			switch {
			case len(a.known) > maxFolders:
				return fmt.Errorf("it has more than %d folders: make a source of each part of it", maxFolders)
			case at.depth == maxDepth:
				in.skipped[fmt.Sprintf("folders more than %d deep", maxDepth)]++
				return nil
			}
			queue = append(queue, level{one.ID, one.path + "/", at.depth + 1})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(in.files, func(a, b file) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.ID, b.ID)) })
	return in, nil
}

// add adds a file, or counts it where it is no document.
func (in *catalog) add(one file) error {
	if reason := one.skipReason(); reason != "" {
		in.skipped[reason]++
		return nil
	}
	if len(in.files) == maxFiles {
		return fmt.Errorf("it has more than %d files: make a source of each part of it", maxFiles)
	}
	in.files = append(in.files, one)
	return nil
}

// listFolder passes what is in one folder and not in the trash.
func (a *asker) listFolder(ctx context.Context, id string, pass func(file) error) error {
	query := url.Values{
		"q": {"'" + id + "' in parents and trashed = false"}, "pageSize": {strconv.Itoa(pageSize)}, "supportsAllDrives": {"true"},
		"includeItemsFromAllDrives": {"true"}, "fields": {"nextPageToken,incompleteSearch,files(" + fileFields + ")"},
	}
	for range maxPages {
		var page struct {
			Next       string `json:"nextPageToken"`
			Incomplete bool   `json:"incompleteSearch"`
			Files      []file `json:"files"`
		}
		if err := a.getJSON(ctx, "/files", query, &page); err != nil {
			return err
		}
		if page.Incomplete {
			return errors.New("the list of a folder is incomplete, as Drive says")
		}
		for _, one := range page.Files {
			if err := one.check(); err != nil {
				return err
			}
			if err := pass(one); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		query.Set("pageToken", page.Next)
	}
	return fmt.Errorf("folder %s has more than %d files", id, maxPages*pageSize)
}

// findFile asks for one file or folder.
func (a *asker) findFile(ctx context.Context, id string) (file, error) {
	var one file
	query := url.Values{"supportsAllDrives": {"true"}, "fields": {fileFields}}
	if err := a.getJSON(ctx, "/files/"+id, query, &one); err != nil {
		return file{}, err
	}
	if one.ID != id {
		return file{}, fmt.Errorf("asked for file %s, Drive gave %.60q", id, one.ID)
	}
	return one, one.check()
}

// findDocument asks for one file, and whether the source reads it: it is there, not in the trash, below
// the source's folder, and a document.
func (a *asker) findDocument(ctx context.Context, id string) (file, bool, error) {
	one, err := a.findFile(ctx, id)
	if statusOf(err) == http.StatusNotFound {
		return file{}, false, nil
	}
	if err != nil || one.Trashed || one.Type == folderType || one.skipReason() != "" {
		return file{}, false, err
	}
	for _, parent := range one.Parents {
		path, ok, err := a.findPath(ctx, parent)
		if err != nil {
			return file{}, false, err
		}
		if ok {
			one.path = path + cleanName(one.Name)
			return one, true, nil
		}
	}
	return file{}, false, nil
}

// findPath gives the path of a folder below the source's, "" for that one, and whether it is there.
func (a *asker) findPath(ctx context.Context, id string) (path string, ok bool, err error) {
	for depth := 0; id != a.at.root; depth++ {
		if !safeID.MatchString(id) || depth > maxDepth {
			return "", false, nil
		}
		at, ok := a.known[id]
		if !ok {
			found, err := a.findFile(ctx, id)
			switch {
			case statusOf(err) == http.StatusNotFound:
			case err != nil:
				return "", false, err
			case len(found.Parents) > 0:
				at = folder{parent: found.Parents[0], name: found.Name, trashed: found.Trashed}
			}
			a.known[id] = at
		}
		if at.parent == "" || at.trashed {
			return "", false, nil
		}
		path, id = cleanName(at.name)+"/"+path, at.parent
	}
	return path, true, nil
}
