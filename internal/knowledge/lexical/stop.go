package lexical

import "strings"

// Lucene's English stop words: they say nothing about any passage.
const stopWords = `a an and are as at be but by for if in into is it no not of on
or such that the their then there these they this to was will with`

// Words that shape a question without saying what it is about.
const questionWords = `about after all also am any anyone anybody are aren't arent at be been before being both can cannot
cant could couldn't couldnt did didn't didnt do does doesn't doesnt doing don't dont each else even ever every few from get gets getting give
go goes going gonna got had hadn't hadnt has hasn't hasnt have haven't havent having he hello help her here hers hey hi him his how however i i'd
i'll i'm i've im isn't ive isnt its it's just kind kindly know let let's lets like many may maybe me might more
most much must my n need needs now ok okay once one ones only or other our ours out over own please pls plz
o possible put really same see set shall she should shouldn't shouldnt so some someone something somehow still stuff sure take tell
than thank thanks thats that's them thing things those though through too u under up us use used using versus very vs want wants
was wasn't wasnt way we we're were weren't werent what whats what's when where wheres where's whether which while who whos who's
whose why without w won't wont work would wouldn't wouldnt ya yes yet you you'd you're your youre yours`

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
