package repo

import (
	"regexp"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph/flows"
)

// cleanFolder is the name of a location without the signs that a sentence goes on with.
func cleanFolder(location flows.Location) string { return strings.TrimRight(location.Name, ",;:!?") }

// repositoryAddress is the address that a request may begin with, or have as a word.
var repositoryAddress = regexp.MustCompile(`(?:^|\s)<?([a-z][a-z0-9+.-]*://[^\s<>|]+)(?:\|[^\s>]*)?>?`)

// parseRequest parts a request into the repository that it names and the task.
func parseRequest(request flows.Request) (repository, task string) {
	location, text := request.Located()
	if location.Place == flows.Folder {
		return cleanFolder(location), strings.TrimSpace(text)
	}
	if verb := asksToAnalyze.FindString(text); verb != "" && location.Place == flows.Attached {
		// "analyze ./backend" names its folder behind the verb.
		if behind, rest := flows.ParseLocation(text[len(verb):]); behind.Place == flows.Folder {
			return cleanFolder(behind), strings.TrimSpace(verb + " " + rest)
		}
	}
	found := repositoryAddress.FindStringSubmatchIndex(text)
	if found == nil {
		return "", strings.TrimSpace(text)
	}
	repository = strings.TrimRight(text[found[2]:found[3]], ".,;:!?)")
	task = text[:found[0]] + " " + strings.TrimLeft(text[found[1]:], ".,;:!?)")
	return repository, strings.TrimSpace(task)
}

// typed is how a message says that it is about a repository, before its name.
var typed = regexp.MustCompile(`(?i)^\s*(?:(?:/cairn|@\S+|<@[^>]+>)[,:]?\s+)?repo(?:sitory)?:?\s+`)

// namedIn returns the repository that an earlier message of the thread names, "" for none.
func namedIn(message string) string {
	if prefix := typed.FindString(message); prefix != "" {
		name, _ := parseRequest(flows.Request{Text: message[len(prefix):]})
		return name
	}
	if found := repositoryAddress.FindStringSubmatch(message); found != nil && asksToAnalyze.MatchString(message) {
		return strings.TrimRight(found[1], ".,;:!?)")
	}
	return ""
}

var (
	asksToAnalyze = regexp.MustCompile(`(?i)^(?:please\s+|can you\s+|could you\s+)?(?:analy[sz]e|inspect|review|audit|report|summari[sz]e|describe|survey|map|overview|give (?:me )?an? (?:overview|report)|what is (?:this|that) (?:repo|repository|project)|explain (?:this|that|the) (?:repo|repository|project|code))\b`)
	asksToWrite   = regexp.MustCompile(`(?i)^(?:please\s+|can you\s+|could you\s+)?(?:write|generate|create|draft|compose|produce|make|document)\b`)
	asks          = regexp.MustCompile(`(?i)^(?:where|what|when|why|who|whose|which|how|does|do|did|is|are|was|were|can|could|should|has|have|will)\b`)
)

// typeOf tells what a task is, by its first words.
func typeOf(repository, task string) TaskType {
	switch {
	case task == "", asksToAnalyze.MatchString(task):
		return AnalyzeRepo
	case asksToWrite.MatchString(task):
		return GenerateContent
	case asks.MatchString(task), strings.HasSuffix(task, "?"):
		return AnswerQuestion
	case repository != "":
		return AnalyzeRepo
	}
	return General
}
