package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// endsSentence reports whether the marks between two texts end a sentence.
func endsSentence(before, marks, after string) bool {
	if after == "" {
		return true
	}
	next := strings.TrimLeftFunc(after, unicode.IsSpace)
	if strings.ContainsAny(marks, "。！？") {
		return !quotedPart(marks, next)
	}
	if len(next) == len(after) {
		return false // a point inside a word: v1.2, values.yaml, a URL
	}
	opened := strings.TrimLeft(next, "\"'([“‘«*_`¿¡")
	first, _ := utf8.DecodeRuneInString(opened)
	switch {
	case strings.HasPrefix(marks, "…") || strings.HasPrefix(marks, ".."):
		return !unicode.IsLower(first)
	case marks[0] != '.':
		return !standsAlone(before) || unicode.IsUpper(first)
	}
	return !isAbbreviation(lastWord(before), first) && !isOrdinal(before, opened)
}

// quotedPart reports whether a sentence of Japanese goes on behind a quote: 「はい。」と言う.
func quotedPart(marks, next string) bool {
	return strings.ContainsAny(marks, "」』") && (strings.HasPrefix(next, "と") || strings.HasPrefix(next, "って"))
}

// standsAlone reports whether white space is in front of a mark, as where it is named
// rather than used, or in French.
func standsAlone(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return unicode.IsSpace(last) || before == ""
}

// isOrdinal reports whether a point behind a number makes it an ordinal, as in "31. März",
// "der 2. Versuch" or "am 3. und 4. Mai".
func isOrdinal(before, after string) bool {
	number := lastWord(before)
	if len(number) == 0 || len(number) > 2 || strings.Trim(number, "0123456789") != "" {
		return false
	}
	word := after
	if end := strings.IndexFunc(after, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		word = after[:end]
	}
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.IsLower(first) || months[strings.ToLower(word)] ||
		beforeOrdinals[strings.ToLower(lastWord(strings.TrimSpace(strings.TrimSuffix(before, number))))]
}

func lastWord(text string) string {
	if cut := strings.LastIndexFunc(text, unicode.IsSpace); cut >= 0 {
		_, size := utf8.DecodeRuneInString(text[cut:])
		text = text[cut+size:]
	}
	return strings.TrimLeft(text, "\"'([“‘«*_")
}

// when says before what an abbreviation's point ends no sentence.
type when int

const (
	always when = iota + 1
	beforeSmall
	beforeNumber
)

func isAbbreviation(word string, next rune) bool {
	switch abbreviations[strings.ToLower(word)] {
	case always:
		return true
	case beforeSmall:
		return !unicode.IsUpper(next)
	case beforeNumber:
		return unicode.IsDigit(next)
	}
	initial, size := utf8.DecodeRuneInString(word)
	return size == len(word) && unicode.IsLetter(initial) && initial != 'I' && initial < 0x250 // J. Smith, z. B.
}

// abbreviations are words whose point ends no sentence, in lower case. One that may end
// a sentence as well, or is a word of another language, does not before small letters.
var abbreviations = byLanguage(map[when]string{
	always: `e.g i.e eg ie vs cf approx ca resp incl excl esp viz mr mrs ms dr prof st
		z.b d.h u.a o.ä s.o i.d.r bzw bspw evtl ggf inkl exkl zzgl bzgl vgl sog gem hr dipl allg ggü mind
		mme mlle p.ex c.-à-d env
		sra srta uds p.ej ee.uu aprox dpto avda
		exmo dra
		sig.ra dott avv
		bijv d.w.z m.b.t o.a i.p.v t.o.v dhr mevr evt`,
	beforeSmall: `etc al inc ltd co corp jr sr a.m p.m u.s dept min max usw
		u.v.m str mio mrd geb
		ex av boul mm
		ud ej
		es ecc sig ing
		enz bv mw`,
	beforeNumber: `no nr fig figs sec ch vol p pp v ver art eq ref ext app rev tab
		tel abs abb kap bd hs hausnr
		núm num pág pag pág cap nº n.º
		blz
		jan feb mar apr jun jul aug sep sept oct nov dec mär okt dez janv févr avr juil déc ene abr ago dic
		fev mai out dez gen mag giu lug ott mrt mei`,
})

// months are names that a day with a point stands in front of.
var months = wordSet(`januar jänner februar märz april mai juni juli august september oktober november dezember
	jan feb mär apr jun jul aug sep sept okt nov dez`)

// beforeOrdinals are words that an ordinal follows.
var beforeOrdinals = wordSet(`am der die das den dem des im zum vom beim bis ab seit jeder jede jedes jeden und oder`)

func byLanguage(lists map[when]string) map[string]when {
	all := make(map[string]when)
	for kind, list := range lists {
		for _, word := range strings.Fields(list) {
			all[word] = kind
		}
	}
	return all
}

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
