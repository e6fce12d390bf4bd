package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Host is what the machine says: where a user's files belong, and the environment.
type Host struct {
	OS      string              // runtime.GOOS
	Home    string              // the user's home directory, "" where there is none
	WorkDir string              // absolute
	Getenv  func(string) string // "" for unset
}

// ThisHost is the machine and user that the program runs as.
func ThisHost() (Host, error) {
	workDir, err := os.Getwd()
	if err != nil {
		return Host{}, fmt.Errorf("find the working directory: %w", err)
	}
	host := Host{OS: runtime.GOOS, WorkDir: workDir, Getenv: os.Getenv}
	home, err := os.UserHomeDir()
	if err == nil {
		host.Home = home
	} // else a service account: what needs a home fails with its own remedy
	return host, nil
}

// Locate gives the configuration file: the one named by the flag, by $CAIRN_CONFIG,
// cairn.yaml in the working directory, then in the user's configuration directory. A
// file that is named must exist; "" says that there is none to be found.
func (h Host) Locate(flag string) (string, error) {
	for _, named := range []struct{ by, path string }{
		{"--config", flag},
		{"$CAIRN_CONFIG", h.Getenv("CAIRN_CONFIG")},
	} {
		if named.path == "" {
			continue
		}
		path, err := base{dir: h.WorkDir, home: h.Home}.absolute(named.path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", named.by, err)
		}
		exists, err := isFile(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", named.by, err)
		}
		if !exists {
			return "", fmt.Errorf("%s names %s, which is not there", named.by, path)
		}
		return path, nil
	}
	candidates := []string{filepath.Join(h.WorkDir, "cairn.yaml")}
	if dir := h.configDir(); dir != "" {
		candidates = append(candidates, filepath.Join(dir, "cairn.yaml"))
	}
	for _, path := range candidates {
		exists, err := isFile(path)
		if err != nil {
			return "", fmt.Errorf("look for a configuration: %w", err)
		}
		if exists {
			return path, nil
		}
	}
	return "", nil
}

func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.IsDir() {
		return false, fmt.Errorf("%s is a folder, not a configuration file", path)
	}
	return true, nil
}

// configDir is the user's configuration directory for Cairn, "" where there is none.
func (h Host) configDir() string {
	return h.userDir("XDG_CONFIG_HOME", ".config", "AppData")
}

// dataDir is the user's data directory for Cairn, "" where there is none.
func (h Host) dataDir() string {
	return h.userDir("XDG_DATA_HOME", filepath.Join(".local", "share"), "LocalAppData")
}

// userDir follows the platform: an XDG directory (or its default below the home),
// Application Support on macOS, the folder of a variable on Windows.
func (h Host) userDir(xdg, below, windows string) string {
	var parent string
	switch h.OS {
	case "windows":
		parent = h.Getenv(windows)
	case "darwin":
		if h.Home != "" {
			parent = filepath.Join(h.Home, "Library", "Application Support")
		}
	default:
		// The XDG specification has relative paths ignored.
		parent = h.Getenv(xdg)
		if !filepath.IsAbs(parent) {
			parent = ""
			if h.Home != "" {
				parent = filepath.Join(h.Home, below)
			}
		}
	}
	if parent == "" {
		return ""
	}
	return filepath.Join(parent, "cairn")
}
