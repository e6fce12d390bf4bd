package files

import (
	"errors"
	"path"

	"github.com/cairn-bot/cairn/internal/knowledge"
)

// Audiences tells whom what lies below a folder is for, by the settings files there. It is
// for one caller at a time.
type Audiences struct {
	folder *openedFolder
	held   map[string]*settings // by folder
}

// OpenAudiences looks below a folder, which is for an audience where no settings file says
// otherwise; "" is everybody. The caller closes it.
func OpenAudiences(root string, audience knowledge.Audience) (*Audiences, error) {
	opened, err := New(Options{Root: root, Source: "folder", Audience: audience}).openFolder()
	if err != nil {
		return nil, err
	}
	return &Audiences{folder: opened, held: make(map[string]*settings)}, nil
}

// Close ends the look.
func (a *Audiences) Close() error { return a.folder.root.Close() }

// Of gives whom the documents of a folder are for: HiddenAudience where a settings file on
// the way there can't be read. folder is slash-separated, below the root; "." is the root.
func (a *Audiences) Of(folder string) knowledge.Audience {
	return a.settings(path.Clean(folder)).audience
}

func (a *Audiences) settings(folder string) *settings {
	if known, ok := a.held[folder]; ok {
		return known
	}
	above := a.folder.options.newSettings()
	if folder != "." {
		above = a.settings(path.Dir(folder))
	}
	held := above
	if above.audience != knowledge.HiddenAudience {
		held, _ = a.folder.settingsOf(folder, above) //nolint:errcheck // one that can't be read hides what is below
	}
	a.held[folder] = held
	return held
}

// InheritedAudience gives whom the documents of a folder below root are for, by the
// settings files on the way there: HiddenAudience where one can't be read. folder is
// slash-separated, below root.
func InheritedAudience(root, folder string) (audience knowledge.Audience, err error) {
	opened, err := OpenAudiences(root, knowledge.PublicAudience)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return opened.Of(folder), nil
}
