package lexical

import "strings"

// Lucene's English stop words: they say nothing about any passage.
const stopWords = `a an and are as at be but by for if in into is it no not of on
or such that the their then there these they this to was will with`

// Words that shape a question without saying what it is about.
const questionWords = `about after all also am any anyone anybody at be been before being both can cannot
cant could did do does doesn't doesnt doing don't dont each else ever every few from get gets getting give
go goes going gonna got had has have having he hello help her here hers hey hi him his how however i i'd
i'll i'm i've im isn't isnt its it's just kind kindly know let let's lets like many may maybe me might more
most much must my n need needs now ok okay once one ones only or other our ours out over own please pls plz
o possible put really same see set shall she should so some someone something somehow still stuff sure take tell
than thank thanks thats that's them thing things those though through too u under up us use used using versus very vs want wants
was way we we're were weren't what whats what's when where wheres where's whether which while who whos who's
whose why without w won't wont work would ya yes yet you you'd your yours`

var (
	stops     = termSet(stopWords)
	questions = termSet(questionWords)
)

// termSet holds the words as they are and as Analyze gives them.
func termSet(words string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(words) {
		set[word] = true
		for _, term := range Analyze(word) {
			set[term] = true
		}
	}
	return set
}

// IsStop reports whether a term of Analyze is one of Lucene's stop words, which no
// search uses.
func IsStop(term string) bool { return stops[term] }

// IsFiller reports whether a term tells nothing about what a question is about: a stop
// word, a question word or a courtesy.
func IsFiller(term string) bool { return stops[term] || questions[term] }
