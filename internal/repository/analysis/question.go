package analysis

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/repository/source"
)

// What a file counts for a question, in multiples of how rare a word is.
const (
	weightSymbol = 2.0 // the file defines something with the word in its name
	weightExact  = 6.0 // it defines just what the question names
	weightPath   = 1.5 // its path has the word
	weightImport = 0.2 // of the score of a file that imports it
)

// roleWeight is what a file counts that is not about how the repository itself works.
var roleWeight = map[source.Role]float64{source.Shipped: 1, source.Tool: 0.5, source.Example: 0.35, source.Test: 0.35}

// asked is a question as files are compared with it.
type asked struct {
	words []askedWord
	names []string // the identifiers that it names, in small letters
	about map[source.Role]bool
}

// askedWord is a word of a question. Files have it where they have its beginning at the
// beginning of a word or of a part of an identifier.
type askedWord struct {
	stem   string
	begins []byte
	weight float64 // how rare it is
}

var identifier = regexp.MustCompile(`[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*`)

// readQuestion takes the telling words and the identifiers from a question.
func readQuestion(text string) asked {
	q := asked{about: make(map[source.Role]bool)}
	known := make(map[string]bool)
	for _, written := range identifier.FindAllString(text, -1) {
		lower := strings.ToLower(written)
		switch {
		case strings.HasPrefix(lower, "test"):
			q.about[source.Test] = true
		case strings.HasPrefix(lower, "example"), strings.HasPrefix(lower, "sample"):
			q.about[source.Example] = true
		case strings.HasPrefix(lower, "generat"), strings.HasPrefix(lower, "script"):
			q.about[source.Tool] = true
		}
		if strings.ContainsAny(written, "_.") || strings.ToLower(written[1:]) != written[1:] {
			q.names = append(q.names, lower[strings.LastIndexByte(lower, '.')+1:])
		}
		for _, word := range lexical.Words(written) {
			for _, term := range lexical.Analyze(word.Text) {
				begins := commonBeginning(term, strings.ToLower(word.Text))
				if lexical.IsFiller(term) || known[term] || len(begins) < 3 {
					continue
				}
				known[term] = true
				q.words = append(q.words, askedWord{stem: term, begins: []byte(begins)})
			}
		}
	}
	return q
}

// commonBeginning returns what a stem and its word begin with: "retr" of "retri" and "retry".
// A part of a compound identifier is as it is.
func commonBeginning(stem, word string) string {
	length := 0
	for length < min(len(stem), len(word)) && stem[length] == word[length] {
		length++
	}
	if length < 3 {
		return stem
	}
	if length > 3 && stem[length-1] == 'i' { // "retri" of "retried", but "retry"
		length--
	}
	return stem[:length]
}

// match is what a file has of a question.
type match struct {
	file   *file
	counts []int     // of each word
	defs   []bool    // a symbol has the word in its name
	exact  bool      // it defines what the question names
	lines  []lineHit // in their order
	score  float64
}

// lineHit is a line with words of the question.
type lineHit struct {
	line    int
	words   uint64 // bits
	defines bool
	exact   bool
}

// maxAskedWords is how many words of a question count.
const maxAskedWords = 32

// matchFiles finds the files that the words, symbols and imports of a question point to, best
// first.
func (a *Analyst) matchFiles(ctx context.Context, read *reading, question string) ([]match, asked, error) {
	q := readQuestion(question)
	q.words = q.words[:min(len(q.words), maxAskedWords)]
	var found []match
	total := 0
	for i := range read.files {
		f := &read.files[i]
		if ctx.Err() != nil {
			return nil, q, fmt.Errorf("search the source files: %w", ctx.Err())
		}
		if f.binary || f.unread || f.language == "" || f.language == "JSON" && f.manifest == nil {
			continue
		}
		total++
		content, err := a.checkout.Read(f.Path)
		if err != nil {
			return nil, q, fmt.Errorf("search the source files: %w", err)
		}
		if m, ok := q.matchFile(f, content); ok {
			found = append(found, m)
		}
	}
	q.weighWords(found, total)
	for i := range found {
		found[i].score = q.score(found[i])
	}
	read.followImports(found)
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.file.Path, b.file.Path))
	})
	return found, q, nil
}

// matchFile looks for the words of a question in a file.
func (q *asked) matchFile(f *file, content []byte) (match, bool) {
	m := match{file: f, counts: make([]int, len(q.words)), defs: make([]bool, len(q.words))}
	lower := bytes.ToLower(content)
	if len(lower) != len(content) {
		content = lower // letters whose small ones have another length
	}
	number, found := 0, false
	for from := 0; from < len(content); number++ {
		end := len(content)
		if at := bytes.IndexByte(content[from:], '\n'); at >= 0 {
			end = from + at
		}
		hit := lineHit{line: number + 1}
		for i, word := range q.words {
			if count := countWord(content[from:end], lower[from:end], word.begins); count > 0 {
				m.counts[i] += count
				hit.words |= 1 << i
			}
		}
		if hit.words != 0 {
			if name := source.DefinedOn(f.language, content[from:end]); name != "" {
				hit.defines, hit.exact = true, slices.Contains(q.names, strings.ToLower(name))
				m.exact = m.exact || hit.exact
				for i, word := range q.words {
					m.defs[i] = m.defs[i] || countWord([]byte(name), bytes.ToLower([]byte(name)), word.begins) > 0
				}
			}
			found = true
			m.lines = append(m.lines, hit)
		}
		from = end + 1
	}
	return m, found
}

// countWord counts how often a line has a word, where a word or a part of an identifier
// begins.
func countWord(line, lower, begins []byte) int {
	count := 0
	for from := 0; ; {
		at := bytes.Index(lower[from:], begins)
		if at < 0 {
			return count
		}
		at += from
		if at == 0 || !isLetter(line[at-1]) || isUpper(line[at]) && !isUpper(line[at-1]) {
			count++
		}
		from = at + len(begins)
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || isUpper(c) }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }

func (q *asked) weighWords(found []match, total int) {
	for i := range q.words {
		holding := 0
		for _, m := range found {
			if m.counts[i] > 0 {
				holding++
			}
		}
		q.words[i].weight = lexical.IDF(total, holding)
	}
}

func (q *asked) score(m match) float64 {
	score := 0.0
	name := strings.ToLower(m.file.Path)
	long := 0.5 + math.Sqrt(float64(m.file.lines)/500)
	for i, word := range q.words {
		if m.counts[i] > 0 {
			score += word.weight * float64(m.counts[i]) / (float64(m.counts[i]) + long)
		}
		if m.defs[i] {
			score += weightSymbol * word.weight
		}
		if strings.Contains(name, string(word.begins)) {
			score += weightPath * word.weight
		}
	}
	if m.exact {
		score += weightExact
	}
	weight := roleWeight[m.file.role]
	if q.about[m.file.role] {
		weight = 1
	}
	if !m.file.language.Program() {
		weight *= 0.7
	}
	if changelog.MatchString(path.Base(m.file.Path)) {
		weight *= 0.3
	}
	return score * weight
}

// changelog is a file that tells what was, which words alone don't tell from what is.
var changelog = regexp.MustCompile(`(?i)^(?:changes|changelog|history|news|release)`)

// strongest is how many of the best files have their imports followed.
const strongest = 8

// followImports raises the files that the best ones import: what they call may answer.
func (r *reading) followImports(found []match) {
	order := make([]int, len(found))
	at := make(map[string]int, len(found))
	for i, m := range found {
		order[i] = i
		at[m.file.Path] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[b].score, found[a].score) })
	raised := make(map[int]float64)
	for _, i := range order[:min(len(order), strongest)] {
		for _, target := range r.modules.Targets[found[i].file.Path] {
			if j, ok := at[target]; ok && j != i {
				raised[j] = max(raised[j], weightImport*found[i].score)
			}
		}
	}
	for j, by := range raised {
		found[j].score += by
	}
}

// excerptLines is how many lines around the best one are shown at first.
const excerptLines = 40

// excerptAround shows the part of a file with the most of a question, and where it begins.
func (m match) excerptAround(q []askedWord, content []byte) (excerpt string, line int) {
	lines := bytes.SplitAfter(content, []byte{'\n'})
	best, most := 1, -1.0
	for i, hit := range m.lines {
		sum, seen := 0.0, uint64(0)
		for _, near := range m.lines[i:] {
			if near.line >= hit.line+excerptLines {
				break
			}
			for word := range q {
				if near.words&(1<<word) != 0 && seen&(1<<word) == 0 {
					sum += q[word].weight
				}
			}
			seen |= near.words
			if near.defines {
				sum += 0.5
			}
		}
		if hit.defines {
			sum += weightSymbol * math.Log1p(float64(len(q)))
		}
		if hit.exact {
			sum += weightExact
		}
		if sum > most {
			best, most = hit.line, sum
		}
	}
	begin := max(1, best-2)
	var out bytes.Buffer
	for i := begin - 1; i < len(lines) && out.Len() < maxExcerpt; i++ {
		out.Write(lines[i][:min(len(lines[i]), maxExcerpt-out.Len())])
	}
	return out.String(), begin
}
