package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-bot/cairn/internal/graph/flows/answer/words"
	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
	"github.com/cairn-bot/cairn/internal/language"
)

// translate lets English words count as the words of a question in another language that the
// documents do not have, so that it finds pages that are in English alone.
func (r *inquiry) translate(ctx context.Context) error {
	tag := language.Detect(r.text)
	if tag == language.English || tag == language.Unknown {
		return nil
	}
	if err := r.translateWide(ctx, tag); err != nil {
		return err
	}
	for i := range r.profile.Terms {
		term := &r.profile.Terms[i]
		if term.Passages > 0 {
			continue
		}
		known := slices.DeleteFunc(words.Translate(tag, term.Written), func(other string) bool { return slices.Contains(term.Also, other) })
		if err := r.countAs(ctx, term, slices.Concat(term.Also, known)); err != nil {
			return err
		}
		if len(known) > 0 {
			term.Also = append(term.Also, known...)
			r.remarks = append(r.remarks, fmt.Sprintf("%q may be %s in English", term.Written, strings.Join(known, ", ")))
		}
	}
	return nil
}

// countAs lets a term that the index does not hold weigh as the most frequent of others does.
func (r *inquiry) countAs(ctx context.Context, term *support.Term, others []string) error {
	stats, err := r.index.Terms(ctx, others)
	if err != nil {
		return fmt.Errorf("look up words in another language: %w", err)
	}
	most := 0
	for _, stat := range stats {
		most = max(most, stat.Passages)
	}
	if most > 0 {
		term.IDF = lexical.IDF(max(r.profile.Passages, 1), most)
	}
	return nil
}

// translateWide replaces the pairs of characters of a Japanese or Chinese question by the words
// that are known in it, where the documents have none of the pairs.
func (r *inquiry) translateWide(ctx context.Context, tag language.Tag) error {
	found := words.TranslateWide(tag, r.text)
	isPair := func(term support.Term) bool { return strings.ContainsFunc(term.Text, isWideLetter) }
	if len(found) == 0 || slices.ContainsFunc(r.profile.Terms, func(term support.Term) bool { return isPair(term) && term.Passages > 0 }) {
		return nil
	}
	terms := slices.DeleteFunc(slices.Clone(r.profile.Terms), isPair)
	for _, word := range found {
		term := support.Term{Text: word.Terms[0], Written: word.Word, Also: word.Terms[1:]}
		if slices.ContainsFunc(terms, func(known support.Term) bool { return known.Text == term.Text }) {
			continue
		}
		term.IDF = lexical.IDF(max(r.profile.Passages, 1), 0)
		if err := r.countAs(ctx, &term, word.Terms); err != nil {
			return err
		}
		terms = append(terms, term)
		r.remarks = append(r.remarks, fmt.Sprintf("%q may be %s in English", word.Word, strings.Join(word.Terms, ", ")))
	}
	r.profile.Terms = terms
	return nil
}

func isWideLetter(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// addPhrasalMeanings lets what a verb means with its particle count as the verb, and the particle
// as nothing: "enable" for "turn" in "turn it on".
func (r *inquiry) addPhrasalMeanings() {
	if language.Detect(r.text).Or(language.English) != language.English {
		return
	}
	phrasals := words.Phrasals(r.text)
	particles := make(map[string]bool)
	for i := range r.profile.Terms {
		term := &r.profile.Terms[i]
		if phrasal, ok := phrasals[term.Written]; ok {
			term.Also = append(term.Also, phrasal.Meaning...)
			particles[phrasal.Particle] = true
		}
	}
	r.profile.Terms = slices.DeleteFunc(r.profile.Terms, func(term support.Term) bool { return particles[term.Written] })
}
