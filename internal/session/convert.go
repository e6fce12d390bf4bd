package session

import "github.com/cairn-bot/cairn/internal/chat"

// storeTurn converts a turn to its stored form, restoreTurn converts it back.
func storeTurn(t chat.Turn) storedTurn {
	kept := storedTurn{
		Role: t.Role, At: t.At, Author: t.Author, Message: t.Message, Text: t.Text,
		Answer: t.Answer, AnsweredBy: t.AnsweredBy, Posted: t.Posted, LateEdit: t.LateEdit,
		Files: convertAll(t.Files, func(f chat.File) storedFile { return storedFile(f) }),
	}
	if r := t.Reply; r != nil {
		kept.Reply = &storedReply{
			Run: r.Run, Outcome: r.Outcome, Text: r.Text, Note: r.Note, Offer: r.Offer, More: r.More, Actions: r.Actions, Topics: r.Topics, Stopped: r.Stopped, Sources: convertAll(r.Sources, storeGroup),
			Documents: convertAll(r.Documents, func(d chat.Document) storedDocument { return storedDocument(d) }),
		}
	}
	if t.Question != nil {
		question := storeQuestion(*t.Question)
		kept.Question = &question
	}
	return kept
}

func restoreTurn(kept storedTurn) chat.Turn {
	t := chat.Turn{
		Role: kept.Role, At: kept.At, Author: kept.Author, Message: kept.Message, Text: kept.Text,
		Answer: kept.Answer, AnsweredBy: kept.AnsweredBy, Posted: kept.Posted, LateEdit: kept.LateEdit,
		Files: convertAll(kept.Files, func(f storedFile) chat.File { return chat.File(f) }),
	}
	if r := kept.Reply; r != nil {
		t.Reply = &chat.Reply{
			Run: r.Run, Outcome: r.Outcome, Text: r.Text, Note: r.Note, Offer: r.Offer, More: r.More, Actions: r.Actions, Topics: r.Topics, Stopped: r.Stopped, Sources: convertAll(r.Sources, restoreGroup),
			Documents: convertAll(r.Documents, func(d storedDocument) chat.Document { return chat.Document(d) }),
		}
	}
	if kept.Question != nil {
		question := restoreQuestion(*kept.Question)
		t.Question = &question
	}
	return t
}

func storeQuestion(q chat.Question) storedQuestion {
	return storedQuestion{
		ID: q.ID, Run: q.Run, Text: q.Text, FreeText: q.FreeText, Asker: q.Asker, Meant: q.Meant,
		Choices: convertAll(q.Choices, func(c chat.Choice) storedChoice { return storedChoice(c) }),
	}
}

func restoreQuestion(kept storedQuestion) chat.Question {
	return chat.Question{
		ID: kept.ID, Run: kept.Run, Text: kept.Text, FreeText: kept.FreeText, Asker: kept.Asker, Meant: kept.Meant,
		Choices: convertAll(kept.Choices, func(c storedChoice) chat.Choice { return chat.Choice(c) }),
	}
}

func storeGroup(g chat.SourceGroup) storedGroup {
	return storedGroup{Category: g.Category, Sources: convertAll(g.Sources, storeSource)}
}

func restoreGroup(kept storedGroup) chat.SourceGroup {
	return chat.SourceGroup{Category: kept.Category, Sources: convertAll(kept.Sources, restoreSource)}
}

func storeSource(s chat.Source) storedSource {
	return storedSource{
		Numbers: s.Numbers, Title: s.Title, Path: s.Path, Owner: s.Owner, Modified: s.Modified, State: s.State, Document: s.Document,
		Sections: convertAll(s.Sections, func(section chat.Section) storedSection { return storedSection(section) }),
	}
}

func restoreSource(kept storedSource) chat.Source {
	return chat.Source{
		Numbers: kept.Numbers, Title: kept.Title, Path: kept.Path, Owner: kept.Owner, Modified: kept.Modified, State: kept.State, Document: kept.Document,
		Sections: convertAll(kept.Sections, func(section storedSection) chat.Section { return chat.Section(section) }),
	}
}
