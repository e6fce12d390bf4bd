package answer

import (
	"github.com/cairn-bot/cairn/internal/agent"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/retrieve"
	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

// analysisRequest asks QueryUnderstander what a question means, or, with what was
// found so far, what to search for next.
type analysisRequest struct {
	Run      string
	Question string
	History  []flows.Turn
	Before   []flows.Said
	ByModel  bool                // the question is to be read by the model; else by rules
	Found    []retrieve.Evidence // nil: the question is to be understood
	Searched []string
	// Attachments came with the question that is to be understood.
	Attachments []flows.Attachment
}

func (analysisRequest) MessageType() agent.Type { return agent.AnalysisRequest }

// understanding is what a question means.
type understanding struct {
	Query        string // embedded: whole, with what a follow-up leans on
	Normalized   string
	Expanded     []string
	Parts        []string
	Terms        []index.Term
	Profile      support.Profile
	Around       []support.Term // words of what a follow-up leans on, which count less
	Intent       Intent
	Relation     Relation
	FollowUp     bool
	Abbreviation string
	Unresolved   string
	Unclear      string   // the question back that a model puts, "" for none
	Choices      []string // that a model offers with it
	Failed       bool     // a model was to read, and did not
	Next         string   // what to search for next, "" where nothing is left
	Remarks      []string
	Uses         []flows.ModelUse
}

func (understanding) MessageType() agent.Type { return agent.AnalysisResponse }

// searchRequest is one search for HybridSearch.
type searchRequest struct{ Query retrieve.Query }

func (searchRequest) MessageType() agent.Type { return agent.SearchRequest }

// searchResponse is the evidence that a search found, best first.
type searchResponse struct {
	Evidence []retrieve.Evidence
	Made     flows.Query
	ByWords  bool // the embedder gave no vector
}

func (searchResponse) MessageType() agent.Type { return agent.SearchResponse }

// draftRequest asks AnswerGeneration for an answer from what was found.
type draftRequest struct {
	State State
	Rest  map[int][]int // positions of the rest of a passage's listing, by its own
}

func (draftRequest) MessageType() agent.Type { return agent.ResponseRequest }

// draftResponse is an answer before it is verified, or why there is none.
type draftResponse struct {
	Draft     Draft
	Abstained string // the reason
	Remarks   []string
	Uses      []flows.ModelUse
}

func (draftResponse) MessageType() agent.Type { return agent.ResponseResponse }

// piece is the next text of an answer while it is written.
type piece struct{ Text string }

func (piece) MessageType() agent.Type { return agent.Coordination }

// claimsRequest asks AnswerGeneration whether passages support statements.
type claimsRequest struct {
	Run      string
	Question string
	Claims   []claim
	Evidence []retrieve.Evidence
}

func (claimsRequest) MessageType() agent.Type { return agent.AnalysisRequest }

// claimsResponse gives one verdict a statement, in their order.
type claimsResponse struct {
	Verdicts []support.Label // "" for what states nothing
	Basis    basis
	Remarks  []string
	Uses     []flows.ModelUse
}

// basis is what claims were judged by.
type basis int

const (
	judgedByWords basis = iota + 1
	judgedByModel
)

func (claimsResponse) MessageType() agent.Type { return agent.AnalysisResponse }

// linkRequest asks SourceLinking for the sources of an answer.
type linkRequest struct {
	Evidence []retrieve.Evidence
	Cited    []citation
}

func (linkRequest) MessageType() agent.Type { return agent.CategorizationRequest }

// linkResponse is the cited documents, one by one and grouped.
type linkResponse struct {
	Sources []flows.Source
	Groups  []flows.SourceGroup
}

func (linkResponse) MessageType() agent.Type { return agent.CategorizationResponse }
