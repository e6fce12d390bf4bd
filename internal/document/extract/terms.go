package extract

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/chunk"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/parse"
)

var (
	glossaryHeading   = regexp.MustCompile(`(?i)\b(?:glossary|terms|terminology|definitions|abbreviations|acronyms|core concepts|concepts)\b`)
	definitionPattern = regexp.MustCompile("^(?:\\*\\*|`)?([\\p{L}\\p{N}][^:.–—*`]{1,50}?)(?:\\*\\*|`)?(?::\\*\\*|:| –| —| -| is a| is an| is the| are) +(.{8,})$")
)

var (
	// statedDefinition is a term before a colon, wherever it stands, and what it is.
	statedDefinition = regexp.MustCompile(`^(\p{Lu}[\p{L}\p{N} -]{1,40}): (?:an?|the|any|one|all|each|what|whoever) .{8,}$`)
	// writtenDefinition is a term of a few words, and what it means.
	writtenDefinition = regexp.MustCompile("^(?:An? |The term )?[*`\"“]{0,2}([\\p{L}\\p{N}][\\p{L}\\p{N}-]*(?: [\\p{L}\\p{N}-]+){0,3}?)[*`\"”]{0,2} (?:means|refers to|stands for|denotes|is defined as|is short for) .{8,}$|^An? ([\\p{L}-]+(?: [\\p{L}-]+){0,2}) is (?:the set of|a set of|a group of|a collection of|any|someone|somebody|what|a kind of|a unit of|the smallest|the name (?:of|for)|our word for) .{8,}$")
	// callout begins a remark and explains no term.
	callout = regexp.MustCompile(`(?i)^(?:notes?|warnings?|important|tips?|caution|danger|examples?|defaults?|todo|info|hints?|attention|deprecated|required|optional|type|value|step \d+|question|answer|q|a|pros?|cons?|owner|author|status|date|version|since|beta|alpha|stable|summary|decision|risks?|result|goal)\b`)
)

// explainsTerm tells whether a sentence says what a term means: in a glossary, or before a
// colon in at most four words.
func explainsTerm(s evidence.Sentence) bool {
	if glossaryHeading.MatchString(s.Heading) && definitionPattern.MatchString(s.Text) {
		return true
	}
	if found := writtenDefinition.FindStringSubmatch(s.Text); found != nil && !lexical.IsStop(strings.ToLower(strings.Fields(found[1] + found[2])[0])) {
		return true
	}
	parts := statedDefinition.FindStringSubmatch(s.Text)
	if parts == nil || s.Item || callout.MatchString(s.Text) {
		return false
	}
	words := strings.Fields(strings.ToLower(parts[1]))
	return len(words) <= 4 && !slices.ContainsFunc(words, func(word string) bool { return lexical.IsStop(word) && word != "of" && word != "and" })
}

// findTerms returns what the documents explain: abbreviations, and the items of glossaries.
// The words that they use most come last.
func (c *Corpus) findTerms(focus Focus) []evidence.Statement {
	var found []scoredSentence
	for _, s := range c.sentences {
		if explainsTerm(s) {
			found = append(found, scoredSentence{s, 1})
		}
	}
	statements := append(c.findAbbreviations(), c.rankStatements(found, focus.Words)...)
	if used, ok := c.mostUsed(); ok {
		statements = append(statements[:min(len(statements), max(focus.Limit-1, 0))], used)
	}
	return statements
}

// Glossary returns what the documents explain, without what they merely use much.
func (c *Corpus) Glossary(focus Focus) (statements []evidence.Statement, more int) {
	all := c.findTerms(Focus{Words: focus.Words, Limit: len(c.sentences) + len(c.holding) + 1})
	if _, ok := c.mostUsed(); ok {
		all = all[:len(all)-1]
	}
	return limitStatements(all, focus.Limit)
}

// findAbbreviations returns those that the documents write out.
func (c *Corpus) findAbbreviations() []evidence.Statement {
	var statements []evidence.Statement
	for d, doc := range c.set.Documents {
		text := c.set.Texts[doc.Name]
		for s, section := range doc.Sections {
			body := text[section.Start:section.End]
			if !strings.ContainsAny(body, "([") {
				continue
			}
			cut := parse.Text{Title: doc.Title, Sections: []parse.Section{{
				Headings: section.Headings, Blocks: []parse.Block{{Kind: parse.Paragraph, Text: body}},
			}}}
			for _, passage := range chunk.Passages(knowledge.Document{ID: doc.ID, Title: doc.Title}, cut, chunk.Options{}) {
				for _, defined := range passage.Definitions {
					statements = append(statements, evidence.Statement{
						Text:   fmt.Sprintf("**%s**: %s", plainText(defined.Short), evidence.Line(defined.Long)),
						Places: []evidence.Place{{Document: d, Section: s}},
					})
				}
			}
		}
	}
	return evidence.Distinct(statements, maxPlaces)
}

const (
	mostUsedWords = 8
	// usedOften is how many sentences a word stands in, at least, to be named.
	usedOften = 3
)

// mostUsed names the words that stand in the most sentences, as they are written.
func (c *Corpus) mostUsed() (evidence.Statement, bool) {
	terms := slices.SortedFunc(maps.Keys(c.holding), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.holding[b], c.holding[a]), cmp.Compare(a, b))
	})
	written, places := c.firstSpellings(terms[:min(len(terms), 4*mostUsedWords)])
	var named []string
	made := evidence.Statement{}
	for _, term := range terms[:min(len(terms), 4*mostUsedWords)] {
		if c.holding[term] < usedOften || len(named) == mostUsedWords || len(term) < 3 || strings.IndexFunc(term, isDigit) >= 0 {
			continue
		}
		named = append(named, fmt.Sprintf("%s (%d)", written[term], c.holding[term]))
		made.Places = evidence.Join(made.Places, places[term], maxPlaces)
	}
	if len(named) == 0 {
		return evidence.Statement{}, false
	}
	made.Text = "Words in the most sentences: " + strings.Join(named, ", ")
	return made, true
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// firstSpellings returns how terms are written where they stand first, and where that is.
func (c *Corpus) firstSpellings(terms []string) (words map[string]string, places map[string]evidence.Place) {
	words, places = make(map[string]string), make(map[string]evidence.Place)
	for _, s := range c.sentences {
		if len(words) == len(terms) {
			break
		}
		if !slices.ContainsFunc(s.Terms, func(term string) bool { return words[term] == "" && slices.Contains(terms, term) }) {
			continue
		}
		for _, word := range lexical.Words(s.Text) {
			for _, term := range evidence.Telling(word.Text) {
				if words[term] == "" && slices.Contains(terms, term) {
					words[term], places[term] = strings.ToLower(word.Text), s.Place
				}
			}
		}
	}
	return words, places
}
