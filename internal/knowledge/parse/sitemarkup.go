package parse

import (
	"regexp"
	"strings"
)

// resolveSiteMarkup takes what a site's generator would have acted on out of Markdown: it
// keeps what a reader of the site would have read. Shortcodes of Hugo, tags of Liquid and
// components of MDX become notes, labels, code fences or their text; imports, includes,
// tables of contents and attribute lists are left out.
func resolveSiteMarkup(source string) string {
	if !strings.ContainsAny(source, "{<") && !siteLine.MatchString(source) {
		return source
	}
	tags := &tagReader{source: source}
	var out []string
	var region []string
	flush := func() {
		if len(region) > 0 {
			out = append(out, strings.Split(tags.resolve(strings.Join(region, "\n")), "\n")...)
			region = nil
		}
	}
	var fence openFence
	var components []string // open ones, by the indent of their content
	statement := false
	for _, line := range strings.Split(source, "\n") {
		line, components = dedentComponent(line, components, tags)
		if fence.inside(line) {
			flush()
			out = append(out, tags.resolveShortcodes(line))
			continue
		}
		if statement, line = dropStatement(line, statement); line != dropped {
			region = append(region, resolveLine(line))
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// siteLine is a line that only a generator of sites understands, see resolveLine.
var siteLine = regexp.MustCompile(`(?mi)^(?:import|export)\s|^[ \t]*(?:;?--8<--|///|\[toc\]|\[\[_?toc_?\]\])|:(?:material|octicons|fontawesome|simple)-`)

// dropped stands for a line that is left out.
const dropped = "\x00"

var (
	moduleLine  = regexp.MustCompile(`^(?:import\s+(?:[\w*{},\s$]+\s+from\s+)?['"][^'"]+['"];?|export\s+\{.*\};?|export\s+(?:const|let|default|function|async)\b.*;)\s*$`)
	moduleBegin = regexp.MustCompile(`^(?:import\s*(?:\w+\s*,\s*)?\{[^}]*|export\s+(?:const|let|default|function|async)\b[^;]*)$`)
	moduleEnd   = regexp.MustCompile(`(?:\}\s*from\s*['"][^'"]+['"];?|^\}\)?;?|;)\s*$`)
)

// dropStatement leaves out imports and exports of MDX. inside says whether one goes on.
func dropStatement(line string, inside bool) (goesOn bool, kept string) {
	switch {
	case inside && strings.TrimSpace(line) == "":
		return false, line
	case inside:
		return !moduleEnd.MatchString(line), dropped
	case moduleLine.MatchString(line):
		return false, dropped
	case moduleBegin.MatchString(line):
		return true, dropped
	}
	return false, line
}

var (
	includeLine = regexp.MustCompile(`(?i)^[ \t]*(?:;?--8<--.*|\{!.*!\}|\[toc\]|\[\[_?toc_?\]\]|\{:[^}]*\})[ \t]*$`)
	slashNote   = regexp.MustCompile(`^([ \t]*)///[ \t]*(?:([\w-]+)[ \t]*(?:\|[ \t]*(.*))?)?$`)
	attributes  = regexp.MustCompile(`([)\]` + "`" + `])\{[ \t]*[:.#][^{}\n]{0,200}\}|[ \t]*\{:[ \t]*[.#][^{}\n]{0,200}\}`)
	iconName    = regexp.MustCompile(`:(?:material|octicons|fontawesome|simple)-[a-z0-9-]+:(?:\{[^{}\n]{0,100}\})?[ \t]*`)
)

// resolveLine reads the markup that stands on one line.
func resolveLine(line string) string {
	if includeLine.MatchString(line) {
		return ""
	}
	if m := slashNote.FindStringSubmatch(line); m != nil {
		return m[1] + noteMark(m[2], m[3])
	}
	if !strings.ContainsAny(line, "{:") {
		return line
	}
	return iconName.ReplaceAllString(attributes.ReplaceAllString(line, "$1"), "")
}

// noteMark begins a note as notesAsQuotes reads it, or ends one where kind is empty.
func noteMark(kind, title string) string {
	switch title = strings.TrimSpace(strings.Trim(title, `"'`)); {
	case kind == "":
		return ":::"
	case title == "":
		return ":::" + strings.ToLower(kind)
	}
	return ":::" + strings.ToLower(kind) + "[" + strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(title) + "]"
}

var componentLine = regexp.MustCompile(`^([ \t]*)<(/?)([A-Z][\w.]*)\b[^<>]*>[ \t]*$`)

// dedentComponent takes the indent off that content has inside components, where it
// would make code of it. open are the components that the line stands in, by their
// content's indent, which is "?" until the first line tells.
func dedentComponent(line string, open []string, tags *tagReader) (string, []string) {
	m := componentLine.FindStringSubmatch(line)
	if m != nil && tags.isComponent(m[3], strings.HasSuffix(strings.TrimRight(line, " \t"), "/>")) {
		switch {
		case m[2] != "":
			open = open[:max(0, len(open)-1)]
		case !strings.HasSuffix(strings.TrimRight(line, " \t"), "/>"):
			open = append(open, "?")
		}
		return strings.TrimLeft(line, " \t"), open
	}
	if len(open) == 0 || strings.TrimSpace(line) == "" {
		return line, open
	}
	last := len(open) - 1
	if open[last] == "?" {
		open[last] = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	}
	return strings.TrimPrefix(line, open[last]), open
}
