package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/prompts"
	"github.com/cairn-bot/cairn/internal/graph/flows/answer/reply"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/llm"
	"github.com/cairn-bot/cairn/internal/llm/guard"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// depthOfText is how much a model is shown and told to say for a depth.
type depthOfText struct {
	passages int
	sure     int // of them, as of a sizeOfContext
	tokens   int // of the sources
	reply    int // tokens
	length   string
}

var depthsOfText = map[flows.Depth]depthOfText{
	flows.Brief:         {passages: 6, sure: 4, tokens: 3000, reply: 400, length: "Answer in one to three sentences."},
	flows.Detailed:      {passages: 12, sure: 7, tokens: 8000, reply: 1200, length: "Answer in a few short paragraphs or a list of steps; leave out what was not asked."},
	flows.Comprehensive: {passages: kept, sure: kept, tokens: 24000, reply: 3000, length: "Answer in full, with headings where that helps: all that the sources tell on the question."},
}

// formOf is the form that an answer is asked for by the kind that the question wants.
var formOf = map[Intent]string{
	HowTo:           "Give steps that follow each other as a numbered list, and a command as a code block.",
	Troubleshooting: "Begin with what helps, a command as a code block.",
	Comparison:      "Compare in a table where the things share two properties or more.",
	List:            "Give a list, or a table where the things share two properties or more.",
}

// readersOf names what shows an answer.
var readersOf = map[string]string{"slack": "Slack", "discord": "Discord", "terminal": "a terminal", "web": "a web page"}

// languagesOf names the languages of the passages that are shown, in English.
func languagesOf(evidence []retrieve.Evidence, shown []int) string {
	var names []string
	for _, position := range shown {
		name := phrases.In(language.English).LanguageName(language.Parse(evidence[position].Document.Language))
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// promptTokens is about what an answer's prompt takes beside sources and thread.
const promptTokens = 600

// sizeForDepth bounds what a model is shown for a depth.
func sizeForDepth(depth flows.Depth) sizeOfContext {
	wanted := depthsOfText[depth]
	return sizeOfContext{passages: wanted.passages, sure: wanted.sure, tokens: wanted.tokens}
}

// write lets the model write the answer from the evidence, the rest of listings among it. Where it
// fails, sentences are quoted instead.
func (g *answerGeneration) write(ctx context.Context, request draftRequest, out *guard.Stream) (draftResponse, error) {
	s, model := request.State, g.writer
	wanted := depthsOfText[s.Depth]
	turns := shownHistory(s.History)
	limits := model.Limits()
	longest := min(wanted.reply, limits.Reply)
	room := limits.Context - longest - promptTokens
	for _, turn := range turns {
		room -= model.Tokens(turn.Text)
	}
	size := sizeForDepth(s.Depth)
	size.tokens, size.rest = min(size.tokens, room), request.Rest
	shown := shownSources(model, s.SearchResults, size)
	positions := shown.positions
	if len(positions) == 0 {
		return g.quotes.quoteInstead(s, flows.ModelUse{Role: roleAnswer, Failure: string(llm.TooLong)}), nil
	}
	messages, err := prompts.Answer{
		Sources: shown.sources, History: turns, Question: asked(s), Length: wanted.length, Form: formOf[s.Intent],
		Language: phrases.In(language.English).LanguageName(language.Detect(s.OriginalQuery)), Today: g.now().UTC().Format(time.DateOnly),
		ReadIn: readersOf[s.ReadIn], SourceLanguages: languagesOf(s.SearchResults, positions),
	}.Messages()
	if err != nil {
		return draftResponse{}, err
	}
	numbers := numbering{evidence: s.SearchResults}
	stream := reply.NewStream(len(positions), prompts.Sentinel, func(source int) int { return numbers.of(positions[source-1]) }, out.Write)
	told, use := flows.Consult(ctx, roleAnswer, model, llm.Request{Run: s.RequestID, Messages: messages, MaxReply: longest}, stream.Write)
	said := strings.TrimSpace(told.Text)
	switch {
	case ctx.Err() != nil:
		return draftResponse{}, fmt.Errorf("write the answer: %w", ctx.Err())
	case use.Failure != "" || said == "":
		return g.quotes.quoteInstead(s, use), nil
	case strings.HasPrefix(said, prompts.Sentinel):
		return draftResponse{Abstained: "the model found no answer in the sources", Uses: []flows.ModelUse{use}}, nil
	}
	stream.Close()
	out.Close()
	draft := Draft{Written: said, Shown: positions, Joined: shown.joined, Model: use.Model, Cut: told.Finish == llm.Length}
	return draftResponse{
		Draft:   draft,
		Uses:    []flows.ModelUse{use},
		Remarks: []string{fmt.Sprintf("written from %d of %d passages", len(draft.positions()), len(s.SearchResults))},
	}, nil
}

// quoteInstead is what is done where a model wrote nothing.
func (q *quoter) quoteInstead(s State, use flows.ModelUse) draftResponse {
	made := q.extract(s)
	made.Draft.Fallback = cmp.Or(use.Failure, "an empty reply")
	made.Uses = []flows.ModelUse{use}
	made.Remarks = append(made.Remarks, "quoted, for the model wrote nothing: "+made.Draft.Fallback)
	return made
}

// asked is the question that an answer is written to.
func asked(s State) string {
	question := s.Query
	if !s.FollowUp {
		question = bounded(s.OriginalQuery)
	}
	if s.Reading != "" {
		question += "\n(meant: " + s.Reading + ")"
	}
	return question
}

// guard is what an answer to this run may let out.
func (f *Flow) guard(s State) guard.Guard { return newGuard(s, f.linkHosts) }

// newGuard makes the guard of the answer to a run: it lets out links to the documents found and
// to some hosts, and addresses that stand in a document which gives a model no orders.
func newGuard(s State, hosts map[string]bool) guard.Guard {
	known := make(map[string]bool)
	for _, e := range s.SearchResults {
		known[knowledge.URLWithAnchor(e.Document, "")] = true
	}
	delete(known, "")
	quoted := make([]func() []string, len(s.SearchResults))
	for i := range s.SearchResults {
		text := s.SearchResults[i].Passage.Text
		quoted[i] = sync.OnceValue(func() []string { return quotableAddresses(text) })
	}
	return guard.Guard{Known: known, Hosts: hosts, Quoted: func(address string) bool {
		for i := range quoted {
			if strings.Contains(s.SearchResults[i].Passage.Text, address) && slices.Contains(quoted[i](), address) {
				return true
			}
		}
		return false
	}}
}

// quotableAddresses gives the addresses of a text that gives a model no orders, none of one that
// does. They are whole: a part of one may lead elsewhere.
func quotableAddresses(text string) []string {
	if guard.Instructs(text) {
		return nil
	}
	return guard.Addresses(text)
}
