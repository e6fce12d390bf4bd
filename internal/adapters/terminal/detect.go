package terminal

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// Detect returns the renderer that suits what out is, as the environment tells it.
// Styles and links need a terminal that is not "dumb"; NO_COLOR turns styles off, and
// FORCE_HYPERLINK (1 or 0) decides about links where the guess by the terminal's name
// is wrong. What is no terminal has lines of any length, and a terminal that doesn't tell its
// size has 80 columns, or COLUMNS.
func Detect(out *os.File, getenv func(string) string) Renderer {
	r := Renderer{Out: out}
	if IsTerminal(out) {
		r.Width = 80
		if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
			r.Width = columns
		}
		if columns, _, err := term.GetSize(int(out.Fd())); err == nil && columns > 0 {
			r.Width = columns
		}
		able := getenv("TERM") != "dumb"
		r.Color = able && getenv("NO_COLOR") == ""
		r.Hyperlinks = able && opensLinks(getenv)
	}
	switch getenv("FORCE_HYPERLINK") {
	case "":
	case "0":
		r.Hyperlinks = false
	default:
		r.Hyperlinks = true
	}
	return r
}

// IsTerminal reports whether a person is at the other end of the file.
func IsTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// opensLinks knows terminals that show OSC 8 links, by the variables they set. tmux
// and screen before 3.4 would print them, so what runs inside one counts as unable.
func opensLinks(getenv func(string) string) bool {
	if getenv("TMUX") != "" || getenv("STY") != "" {
		return false
	}
	if version, err := strconv.Atoi(getenv("VTE_VERSION")); err == nil && version >= 5000 {
		return true
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio":
		return true
	}
	switch getenv("TERM") {
	case "xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour":
		return true
	}
	return getenv("WT_SESSION") != "" || getenv("KONSOLE_VERSION") != ""
}
