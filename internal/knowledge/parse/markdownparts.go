package parse

import (
	"iter"
	"slices"
	"strings"
)

// maxReferences bounds what is kept of the references of a document that is read in parts, in bytes
// of their lines.
const maxReferences = 128 << 10

// collectReferences keeps what parts of a document refer to in one another: the names of footnotes,
// and what links lead to. Of a document that is read whole the parser finds it.
func (r *markdownReader) collectReferences(text string) {
	if !r.in.isLarge() {
		return
	}
	kept := 0
	for _, line := range r.definitions {
		kept += len(line)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if kept += len(line); !strings.Contains(line, "]:") || kept > maxReferences {
			kept -= len(line)
			continue
		}
		switch found := footnote.FindStringSubmatch(line); {
		case found != nil:
			r.footnotes[found[1]] = true
		case definitionLine.MatchString(line):
			if len(r.definitions) == 0 {
				r.definitions = []string{""}
			}
			r.definitions = append(r.definitions, strings.Clone(line))
			continue
		}
		kept -= len(line)
	}
}

// findCut gives where a text is best cut, outside of code: before its last heading, or behind an
// empty line.
func (r *markdownReader) findCut(text string) int {
	fence := r.fence
	heading, gap, at := 0, 0, 0
	empty := false
	for line := range strings.SplitAfterSeq(text, "\n") {
		content := strings.TrimRight(line, " \t\n")
		if !fence.inside(content) && at > 0 && content != "" {
			if strings.HasPrefix(content, "#") && strings.HasPrefix(strings.TrimLeft(content, "#"), " ") {
				heading = at
			}
			if empty && content[0] != ' ' && content[0] != '\t' {
				gap = at
			}
		}
		empty = content == ""
		at += len(line)
	}
	if heading > len(text)/2 {
		return heading
	}
	return max(heading, gap)
}

// closeFence ends the code that goes on in the next part, and opens what went on from the last.
func (r *markdownReader) closeFence(lines []string) []string {
	if !r.in.isLarge() {
		return lines
	}
	if r.fence.mark != "" {
		lines = slices.Concat([]string{r.fence.mark}, lines)
	}
	r.fence = openFence{}
	for _, line := range lines {
		r.fence.inside(line)
	}
	if r.fence.mark != "" {
		lines = append(lines, r.fence.mark)
	}
	return lines
}

// cutText yields a text in parts as textParts does, or whole.
func (in input) cutText(text string, cut func(text string) int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for size := int(in.limits.Part); in.isLarge() && len(text) > size; {
			end := 0
			for most := size; end == 0 && most < len(text) && most <= maxUncut*size; most += size {
				end = cut(text[:strings.LastIndexByte(text[:most], '\n')+1])
			}
			if end == 0 {
				end = pieceEnd([]byte(text[:min(len(text), 2*maxUncut*size)]), min(len(text), maxUncut*size))
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
		yield(text)
	}
}
