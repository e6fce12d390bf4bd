// Package eval reads question sets and measures what a search or a bot makes of
// them. It knows no index and no flow: the caller passes functions.
//
// Five forms of sets are known, of which Detect tells those that teams have: answer sets, clarify
// sets and talk sets. The others are for the tools of Cairn's own. A retrieval set has documents, queries
// and which document is relevant to which query (the BEIR layout); RetrievalSet
// measures a search on it. An answer set has questions as people type them, with
// the sections that hold the answer, the facts a right answer states, and whether
// to answer, to ask back or to abstain; Score measures answers on it. A clarify set has
// conversations of which only that decision is known (tasks.jsonl), see ClarifySet. A
// grounding set has claims with the sentences they cite (claims.jsonl), see ScoreClaims. A
// talk set has messages of all kinds with the conversation around them (talk.jsonl), see
// TalkItem and ScoreTalk.
//
// All end in a Report, which renders as a table and as JSON.
package eval
