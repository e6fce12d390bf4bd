package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cairn-bot/cairn/internal/knowledge/connect"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

// maxDepth is how many folders deep documents are looked for.
const maxDepth = 100

// openedFolder is a folder that is open for one Sync.
type openedFolder struct {
	*Connector
	root *os.Root
	path string // absolute, of the folder
	only string // the one file to read, "" for all
}

// entry is a file to read, or one that is known to be unreadable.
type entry struct {
	name   string // slash-separated, below the folder
	reason error  // why it can't be read, nil before that was tried
	folder bool   // all that is below it can't be read
	// settings are what holds for it.
	settings *settings
}

// listing is what a walk through a folder found.
type listing struct {
	entries []entry // by name
	skipped map[string]int
}

// listFiles walks the folder, without opening any file.
func (p *openedFolder) listFiles(ctx context.Context) (*listing, error) {
	listed := &listing{skipped: make(map[string]int)}
	if p.only != "" {
		held := p.settingsIn(listed, ".", p.options.newSettings())
		listed.entries = append(listed.entries, entry{name: p.only, reason: p.unreadableError(p.only), settings: held})
		return listed, nil
	}
	if err := p.walkFolder(ctx, listed, walkedFolder{name: ".", above: p.options.newSettings()}); err != nil {
		return nil, err
	}
	slices.SortFunc(listed.entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return listed, nil
}

// walkedFolder is a folder that the walk comes to.
type walkedFolder struct {
	name  string
	depth int
	above *settings // of the folder that it is in
}

// settingsIn returns what holds in a folder. A settings file that can't be read is listed.
func (p *openedFolder) settingsIn(listed *listing, folder string, above *settings) *settings {
	held, err := p.settingsOf(folder, above)
	if err != nil {
		listed.entries = append(listed.entries, entry{name: path.Join(folder, SettingsFile), reason: err, settings: held})
	}
	return held
}

func (p *openedFolder) walkFolder(ctx context.Context, listed *listing, in walkedFolder) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	children, err := p.readFolder(in.name)
	switch {
	case err != nil && in.name == ".":
		return fmt.Errorf("folder %s can't be listed: %w", p.path, err)
	case err != nil:
		listed.entries = append(listed.entries, entry{name: in.name, reason: openError(err), folder: true, settings: in.above})
		return nil
	}
	held := p.withSite(in.name, p.settingsIn(listed, in.name, in.above))
	for _, child := range children {
		name := path.Join(in.name, child.Name())
		if reason := p.skipReason(name, child); reason != "" {
			listed.skipped[reason]++
			continue
		}
		switch {
		case child.IsDir() && in.depth == maxDepth:
			reason := fmt.Errorf("folders are nested more than %d deep: move it up", maxDepth)
			listed.entries = append(listed.entries, entry{name: name, reason: reason, folder: true, settings: held})
		case child.IsDir():
			if err := p.walkFolder(ctx, listed, walkedFolder{name: name, depth: in.depth + 1, above: held}); err != nil {
				return err
			}
		default:
			listed.entries = append(listed.entries, entry{name: name, reason: p.unreadableError(name), settings: held})
		}
	}
	return nil
}

func (p *openedFolder) readFolder(folder string) ([]fs.DirEntry, error) {
	opened, err := p.root.Open(folder)
	if err != nil {
		return nil, err
	}
	children, err := opened.ReadDir(-1)
	return children, errors.Join(err, opened.Close())
}

// skipReason returns the reason for which a file or folder is passed over, or "".
func (p *openedFolder) skipReason(name string, child fs.DirEntry) string {
	base := child.Name()
	switch {
	case base == SettingsFile:
		return "settings of folders"
	case strings.HasPrefix(base, "."):
		return "hidden"
	case child.IsDir() && (base == "node_modules" || base == "vendor"):
		return "folders of other people's code"
	case strings.HasPrefix(base, "~$"), strings.HasSuffix(base, "~"):
		return "temporary files"
	case matchesAny(p.options.Exclude, name):
		return "excluded by a pattern"
	case child.IsDir():
		return ""
	case !Includes(p.options.Include, name):
		return "not included by a pattern"
	case child.Type()&fs.ModeSymlink != 0 && p.leadsToFolder(name):
		return "links to folders"
	}
	if p.options.SourceCode && parse.Detect(base, nil) == parse.Source {
		return ""
	}
	if p.options.Pictures && isPictureName(base) {
		return ""
	}
	return AssetKind(base)
}

// isPictureName reports whether a name is that of a picture whose text can be read.
func isPictureName(base string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(path.Ext(base)))
}

// leadsToFolder is for links: one to a folder is passed over, for what is in the
// folder is read where it lies, and a circle does no harm.
func (p *openedFolder) leadsToFolder(name string) bool {
	info, err := p.root.Stat(name)
	return err == nil && info.IsDir()
}

// Excludes reports whether patterns, as those of Options, leave out a file or a folder that it is in.
// name is slash-separated.
func Excludes(patterns []string, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if matchesAny(patterns, name) {
			return true
		}
	}
	return false
}

// Includes reports whether a file is one of those that patterns, as those of Options, include.
func Includes(patterns []string, name string) bool {
	return len(patterns) == 0 || matchesAny(patterns, name)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := doublestar.Match(pattern, name)
		return err == nil && matched // patterns were validated
	})
}

// unreadableError says why a file can't be read, as far as that is known without opening
// it: opening a pipe could wait for ever.
func (p *openedFolder) unreadableError(name string) error {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return errors.New("its name is not valid UTF-8 or holds control characters: rename it")
	}
	info, err := p.root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if info, err = p.root.Stat(name); err != nil {
			return badLink(err)
		}
	}
	if err != nil {
		return openError(err)
	}
	return notRegular(info)
}

func notRegular(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	what := "a special file"
	switch mode := info.Mode(); {
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("it is %s, not a file: move it out of the folder or exclude it", what)
}

func badLink(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it is a link to a file that is not there: mend or remove it")
	case errors.Is(err, syscall.ELOOP):
		return errors.New("it is a link that leads in a circle: mend or remove it")
	case errors.Is(err, fs.ErrPermission):
		return openError(err)
	}
	return errors.New("it is a link that leads out of the folder, which is not followed: put the file itself there, or a relative link inside the folder")
}

func openError(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return errors.New("it may not be read (permission denied): let the bot's user read it, or exclude it")
	}
	return fmt.Errorf("it can't be opened: %w", err)
}

// mayHold reports whether a document is still in the folder, or may be, where its folder
// can't be read.
func (l *listing) mayHold(name string) bool {
	for probe := name; ; probe = path.Dir(probe) {
		at, found := slices.BinarySearchFunc(l.entries, probe, func(e entry, name string) int { return cmp.Compare(e.name, name) })
		if found && (probe == name || l.entries[at].folder) {
			return true
		}
		if probe == "." || probe == "/" {
			return false
		}
	}
}

func (l *listing) listSkipped() []connect.Skipped {
	var skips []connect.Skipped
	for _, reason := range slices.Sorted(maps.Keys(l.skipped)) {
		skips = append(skips, connect.Skipped{Reason: reason, Count: l.skipped[reason]})
	}
	return skips
}

// EmptyError is a folder without any file to read.
type EmptyError struct{ reason string }

func (e *EmptyError) Error() string { return e.reason }

// emptyError says that there is nothing to read, and what was passed over.
func (l *listing) emptyError(options Options) error {
	var passed []string
	for _, skip := range l.listSkipped() {
		passed = append(passed, fmt.Sprintf("%s: %d", skip.Reason, skip.Count))
	}
	if len(passed) == 0 {
		return &EmptyError{fmt.Sprintf("folder %s is empty: check the path, and that it is mounted", options.Root)}
	}
	return &EmptyError{fmt.Sprintf("folder %s has no documents to read (passed over: %s): check the path and the patterns", options.Root, strings.Join(passed, ", "))}
}
