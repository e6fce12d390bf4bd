// Package phrases holds what Cairn itself says to people, in each language that it
// speaks: the lines around what it quotes.
package phrases

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cairn-bot/cairn/internal/language"
)

// Key names a line. What stands in a line is named behind its key, in order.
type Key string

// The lines.
const (
	Stopped               Key = "stopped"
	RunStopped            Key = "run_stopped"
	QuestionDropped       Key = "question_dropped"
	NothingToStop         Key = "nothing_to_stop"
	NotAChoice            Key = "not_a_choice"
	QuestionExpired       Key = "question_expired"
	QuestionClosed        Key = "question_closed"
	EarlierQuestionClosed Key = "earlier_question_closed"
	NoAnswerInTime        Key = "no_answer_in_time"
	StillWaiting          Key = "still_waiting"     // of the question
	MessageShortened      Key = "message_shortened" // of a number
	Help                  Key = "help"
	RunFailed             Key = "run_failed" // of the run's id
	RunParked             Key = "run_parked" // of the run's id
	SearchFailed          Key = "search_failed"
	Questions             Key = "questions"    // for Count
	Minutes               Key = "minutes"      // for Count
	Hours                 Key = "hours"        // for Count
	Documents             Key = "documents"    // for Count
	QuotaPerson           Key = "quota_person" // of a count of Questions
	QuotaPlace            Key = "quota_place"  // of a count of Questions
	CostPerson            Key = "cost_person"
	CostPlace             Key = "cost_place"
	AskAgainLater         Key = "ask_again_later" // of a duration and a time
	NotFound              Key = "not_found"
	NotFoundIn            Key = "not_found_in" // of the collections
	ClosestQuote          Key = "closest_quote"
	NearestPages          Key = "nearest_pages"
	MayNotBeIt            Key = "may_not_be_it"
	QuotesNote            Key = "quotes_note"
	WrittenNote           Key = "written_note"
	WordsCompared         Key = "words_compared"
	QuotedBecause         Key = "quoted_because"    // of one of the reasons below
	NoAnswerBecause       Key = "no_answer_because" // of one of the reasons below
	ModelUnsupported      Key = "model_unsupported"
	ModelUnavailable      Key = "model_unavailable"
	ModelSlow             Key = "model_slow"
	ModelLimited          Key = "model_limited"
	ModelOverBudget       Key = "model_over_budget"
	ModelRefused          Key = "model_refused"
	ModelTooLong          Key = "model_too_long"
	ModelRejected         Key = "model_rejected"
	ModelInvalid          Key = "model_invalid"
	ModelSilent           Key = "model_silent"
	StatementsRemoved     Key = "statements_removed" // for Count
	PartlyInSource        Key = "partly_in_source"
	RemovedHere           Key = "removed_here"
	AnswerCut             Key = "answer_cut"
	QuestionCut           Key = "question_cut"          // of a number
	QuotedLanguage        Key = "quoted_language"       // of what LanguageName gives
	OlderVersionDiffers   Key = "older_version_differs" // of the versions: 1.9, 1.8
	WhichOne              Key = "which_one"
	SeveralDocuments      Key = "several_documents" // of the subject
	UnclearReference      Key = "unclear_reference" // of the word
	ChooseOrSay           Key = "choose_or_say"
	SayMore               Key = "say_more"
	YouMeant              Key = "you_meant" // of a reading
	Greeting              Key = "greeting"
	Thanks                Key = "thanks"
	Goodbye               Key = "goodbye"
	FoundItYourself       Key = "found_it_yourself"
	Insult                Key = "insult"
	Test                  Key = "test"
	Gibberish             Key = "gibberish"
	Identity              Key = "identity"
	Abilities             Key = "abilities"
	Knowledge             Key = "knowledge" // of documents (a count of Documents) and collections
	Usage                 Key = "usage"
	Examples              Key = "examples"
	ExampleDefinition     Key = "example_definition" // of a term
	WhatWithFile          Key = "what_with_file"
	SummarizeFile         Key = "summarize_file"
	AskAboutFile          Key = "ask_about_file"
	SearchForFile         Key = "search_for_file"
	WhichQuestion         Key = "which_question"
	UnreadableFile        Key = "unreadable_file" // of a file name
	ReadAsWritten         Key = "read_as_written"
	QuotesUnwritten       Key = "quotes_unwritten"
	SourcesUngrouped      Key = "sources_ungrouped"
	WordsSearched         Key = "words_searched"
	OneSearchFailed       Key = "one_search_failed"
	SearchesFailed        Key = "searches_failed" // of two numbers: 1 of 3
	ReportChecked         Key = "report_checked"
	StatementsPartly      Key = "statements_partly"   // for Count
	NotWrittenBecause     Key = "not_written_because" // of one of the reasons above
	PartsUnread           Key = "parts_unread"        // for Count
	DigestByRules         Key = "digest_by_rules"
	SourcesHeading        Key = "sources_heading"
	MoreUnlisted          Key = "more_unlisted" // for Count
	AndMore               Key = "and_more"      // of a number
	ReportCut             Key = "report_cut"    // for Count
	NotRead               Key = "not_read"      // of names and reasons
	NothingFound          Key = "nothing_found"
	NothingFoundHere      Key = "nothing_found_here"
	AnalysisAbout         Key = "analysis_about" // of a subject
	AnalysisOf            Key = "analysis_of"    // of documents
	MadeFrom              Key = "made_from"      // of documents
	AnalysisReady         Key = "analysis_ready" // of documents and a file
	AnalysisStopped       Key = "analysis_stopped"
	DraftNumber           Key = "draft_number" // of a number and documents
	DraftParts            Key = "draft_parts"  // of parts
	DraftReply            Key = "draft_reply"
	DraftChanges          Key = "draft_changes"
	DraftRounds           Key = "draft_rounds" // of a number
	ChoiceApprove         Key = "choice_approve"
	ChoiceApproveDetail   Key = "choice_approve_detail"
	ChoiceRevise          Key = "choice_revise"
	ChoiceReviseDetail    Key = "choice_revise_detail"
	ChoiceStop            Key = "choice_stop"
	ChoiceStopDetail      Key = "choice_stop_detail"
	DraftUnchanged        Key = "draft_unchanged"
	DraftChanged          Key = "draft_changed"  // of changes
	PartsNew              Key = "parts_new"      // of parts
	PartsGone             Key = "parts_gone"     // of parts
	PartsChanged          Key = "parts_changed"  // of parts
	PartChange            Key = "part_change"    // of a part and two numbers
	AttachedFiles         Key = "attached_files" // for Count
	DocumentsIn           Key = "documents_in"   // of a count of Documents and a place
	RulesLimit            Key = "rules_limit"
	WordsUnmentioned      Key = "words_unmentioned" // of words
	PartAbout             Key = "part_about"        // of words
	PartNarrowed          Key = "part_narrowed"     // of a part and words
	OverviewOf            Key = "overview_of"       // of a system
	OverviewReady         Key = "overview_ready"    // of a file
	OverviewGaps          Key = "overview_gaps"     // of parts
	WhichSystem           Key = "which_system"
	PartPurpose           Key = "part_purpose"
	PartParts             Key = "part_parts"
	PartFlows             Key = "part_flows"
	PartInterfaces        Key = "part_interfaces"
	PartDecisions         Key = "part_decisions"
	PartTerms             Key = "part_terms"
	PartQuestions         Key = "part_questions"
	PartOutline           Key = "part_outline"
	PartRisks             Key = "part_risks"
	PartContradictions    Key = "part_contradictions"
	PartDates             Key = "part_dates"
	PartPeople            Key = "part_people"
	PartNumbers           Key = "part_numbers"
	RepositoryWhich       Key = "repository_which"
	RepositoryUnreadable  Key = "repository_unreadable" // of a number and a reason
	RepositoryNone        Key = "repository_none"
	ReportReady           Key = "report_ready"   // of a repository and a file
	AnswerInFile          Key = "answer_in_file" // of a file
	AllInFile             Key = "all_in_file"    // of a file
	RisksSeen             Key = "risks_seen"     // of kinds
	ReadByTools           Key = "read_by_tools"
	ReadInManifests       Key = "read_in_manifests"
	WrittenFromTools      Key = "written_from_tools"
	PartialAfter          Key = "partial_after" // for Count
	ModelNeeded           Key = "model_needed"
	PeopleSaid            Key = "people_said" // of the title of a conversation
	ThreadKept            Key = "thread_kept" // of a title, an address and names
	ThreadForgotten       Key = "thread_forgotten"
	NotKeptHere           Key = "not_kept_here"
	NothingToKeep         Key = "nothing_to_keep"

	RepositoryFiles        Key = "repository_files"         // of files, languages, and files of tests
	RepositoryFilesUnknown Key = "repository_files_unknown" // of files, and files of tests
	RepositoryManifests    Key = "repository_manifests"     // of manifests and dependencies
	RepositoryModules      Key = "repository_modules"       // of modules, links and circles
	RepositoryTellingFiles Key = "repository_telling_files" // of files
	RepositoryRisks        Key = "repository_risks"         // of risks
	ReportEndCut           Key = "report_end_cut"

	ReportTitle             Key = "report_title" // of a repository
	ReportPartial           Key = "report_partial"
	ReportAbout             Key = "report_about"
	ReportLayout            Key = "report_layout"
	ReportDependencies      Key = "report_dependencies"
	ReportArchitecture      Key = "report_architecture"
	ReportEntries           Key = "report_entries"
	ReportFirstFiles        Key = "report_first_files"
	ReportTests             Key = "report_tests"
	ReportRisks             Key = "report_risks"
	ReportSteps             Key = "report_steps"
	ReportByModel           Key = "report_by_model" // of a heading
	ReportCommit            Key = "report_commit"   // of a commit
	ReportUnread            Key = "report_unread"
	ReportCallsItself       Key = "report_calls_itself" // of a title and its place
	ReportReadme            Key = "report_readme"       // of a place and a text
	ReportNoReadme          Key = "report_no_readme"
	ReportLicense           Key = "report_license" // of a name and its place
	ReportLicenseUnknown    Key = "report_license_unknown"
	ReportLanguageColumns   Key = "report_language_columns"
	ReportDependencyColumns Key = "report_dependency_columns"
	ReportModuleColumns     Key = "report_module_columns"
	ReportUsageColumns      Key = "report_usage_columns"
	ReportNoManifest        Key = "report_no_manifest"
	ReportNoDependencies    Key = "report_no_dependencies"
	ReportLockedBy          Key = "report_locked_by" // of a place
	ReportStrongestTies     Key = "report_strongest_ties"
	ReportNoCircle          Key = "report_no_circle"
	ReportNoTests           Key = "report_no_tests"
	ReportNoCI              Key = "report_no_ci"
	ReportNoRisks           Key = "report_no_risks"
)

// Speaker says lines in one language.
type Speaker struct {
	lines map[Key]line
}

// line is a text with fmt's verbs, in one or two forms.
type line struct {
	One   string `json:"one"` // of a count of 1; "" where Other serves
	Other string `json:"other"`
}

// UnmarshalJSON takes a plain text as well.
func (l *line) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &l.Other)
	}
	type forms line
	return json.Unmarshal(data, (*forms)(l))
}

//go:embed catalog/*.json
var files embed.FS

var speakers = loadSpeakers()

// loadSpeakers panics on a catalog that can't be read: the catalogs are part of the program.
func loadSpeakers() map[language.Tag]Speaker {
	loaded := make(map[language.Tag]Speaker)
	for _, tag := range language.All() {
		content, err := files.ReadFile("catalog/" + string(tag) + ".json")
		if err != nil {
			panic(fmt.Sprintf("phrases: %v", err))
		}
		speaker := Speaker{}
		if err := json.Unmarshal(content, &speaker.lines); err != nil {
			panic(fmt.Sprintf("phrases: the catalog of %s: %v", tag, err))
		}
		loaded[tag] = speaker
	}
	return loaded
}

// In gives the speaker of a language, and the English one for language.Unknown.
func In(tag language.Tag) Speaker { return speakers[tag.Or(language.English)] }

// Text gives a line with the values that stand in it.
func (s Speaker) Text(key Key, values ...any) string {
	text := s.lines[key].Other
	if len(values) == 0 {
		return text
	}
	return fmt.Sprintf(text, values...)
}

// Count gives a line about a number of things.
func (s Speaker) Count(key Key, n int) string {
	counted := s.lines[key]
	if n == 1 && counted.One != "" {
		return fmt.Sprintf(counted.One, n)
	}
	return fmt.Sprintf(counted.Other, n)
}

// LanguageName is what a language is called, as it stands inside a sentence.
func (s Speaker) LanguageName(tag language.Tag) string { return s.lines[languageKey(tag)].Other }

func languageKey(tag language.Tag) Key { return Key("language_" + string(tag)) }

// keys gives all keys of a speaker's catalog, sorted.
func (s Speaker) keys() []Key { return slices.Sorted(maps.Keys(s.lines)) }
