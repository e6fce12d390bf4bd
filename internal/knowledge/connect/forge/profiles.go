package forge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

const (
	profilesName    = "people.json"
	profilesVersion = 1
	maxProfiles     = 500            // that are asked for in one Access
	profileAfter    = 24 * time.Hour // how old one may be
)

// profiles are the addresses of accounts as their own pages tell them. All of it may be lost.
type profiles struct {
	Version int                `json:"version"`
	People  map[string]profile `json:"people"` // by the names of accounts
	asked   int
}

// profile is the address of an account, "" for none, and when it was asked for.
type profile struct {
	Email string    `json:"email"`
	Asked time.Time `json:"asked"`
}

func loadProfiles(folder string) *profiles {
	read := &profiles{}
	text, err := os.ReadFile(filepath.Join(folder, profilesName))
	if folder == "" || err != nil || json.Unmarshal(text, read) != nil || read.Version != profilesVersion || read.People == nil {
		return &profiles{Version: profilesVersion, People: make(map[string]profile)}
	}
	return read
}

// save writes the profiles where some were asked for.
func (p *profiles) save(folder string) error {
	if p.asked == 0 {
		return nil
	}
	return saveJSON(folder, profilesName, p)
}
