package discord

import (
	"strconv"

	"cairn/internal/chat"
	"cairn/internal/chat/markup"
	"cairn/internal/chat/rich"
)

// Discord's limits on components.
const (
	maxButtons = 5   // in a row
	maxLabel   = 80  // of a button
	maxOption  = 100 // label, value and description of a select's option
)

// buttonRow collects buttons and the first mistake.
type buttonRow struct {
	buttons []component
	err     error
}

func (r *buttonRow) add(style int, does verb, about, value, label string) {
	id, err := customID(does, about, value)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.buttons = append(r.buttons, component{Type: buttonType, Style: style, CustomID: id, Label: rich.Cut(label, maxLabel)})
}

func (r *buttonRow) rows() []component {
	if len(r.buttons) == 0 {
		return nil
	}
	return []component{{Type: rowType, Components: r.buttons}}
}

// The values of verbRate.
const (
	thumbUp   = "u"
	thumbDown = "d"
)

// replyButtons stand under an answer or a failure line: five at most, and a menu.
func replyButtons(reply chat.Reply, how look) ([]component, error) {
	if reply.Offer != "" {
		r := &buttonRow{}
		r.add(secondary, verbPrivate, string(reply.Offer), "", "Answer me in private")
		return r.rows(), r.err
	}
	run := string(reply.Run)
	if run == "" || reply.Outcome == chat.Noticed {
		return nil, nil
	}
	r := &buttonRow{}
	switch reply.Outcome {
	case chat.Failure:
		r.add(primary, verbRetry, run, "", "Retry")
		r.add(secondary, verbWhy, run, "", "What happened")
		if how.human && !how.private {
			r.add(secondary, verbHuman, run, "", "Ask a human")
		}
		return r.rows(), r.err
	case chat.Answered:
		r.add(secondary, verbRate, run, thumbUp, "Helpful")
		r.add(secondary, verbRate, run, thumbDown, "Not helpful")
	}
	if reply.More {
		r.add(secondary, verbExtend, run, "", "Show more")
	}
	human := how.human && !how.private
	if human && reply.Outcome == chat.Abstained { // nothing else helps then
		r.add(secondary, verbHuman, run, "", "Ask a human")
		human = false
	}
	menu, err := replyMenu(run, []menuOption{
		{verbWhy, "Why", true}, {verbSources, "All sources", len(reply.Sources) > 0}, {verbShare, "Share in channel", how.private}, {verbHuman, "Ask a human", human},
	})
	if r.err == nil {
		r.err = err
	}
	return append(r.rows(), component{Type: rowType, Components: []component{menu}}), r.err
}

// menuOption is something that a menu offers, where it is shown.
type menuOption struct {
	does  verb
	label string
	shown bool
}

// menuVerbs are what a menu may name.
var menuVerbs = []verb{verbWhy, verbSources, verbShare, verbHuman}

// replyMenu is what else can be done about an answer.
func replyMenu(run string, options []menuOption) (component, error) {
	id, err := customID(verbMenu, run, "")
	menu := component{Type: selectType, CustomID: id, Placeholder: "More"}
	for _, offered := range options {
		if offered.shown {
			menu.Options = append(menu.Options, option{Label: offered.label, Value: string(offered.does)})
		}
	}
	return menu, err
}

// questionRows are a question's choices, as buttons or, over five, in a select menu, and
// the button that opens the form for an answer in other words.
func questionRows(question chat.Question) ([]component, error) {
	var rows []component
	choices := &buttonRow{}
	if len(question.Choices) <= maxButtons {
		for i, choice := range question.Choices {
			choices.add(primary, verbAnswer, question.ID, strconv.Itoa(i), rich.ChoiceLabel(choice))
		}
		rows = choices.rows()
	} else {
		menu, err := choiceMenu(question)
		if err != nil {
			return nil, err
		}
		rows = []component{{Type: rowType, Components: []component{menu}}}
	}
	more := &buttonRow{}
	if question.FreeText {
		more.add(secondary, verbWords, question.ID, "", "In my own words")
	}
	more.add(secondary, verbStop, string(question.Run), "", "Stop")
	if choices.err != nil {
		return nil, choices.err
	}
	return append(rows, more.rows()...), more.err
}

func choiceMenu(question chat.Question) (component, error) {
	id, err := customID(verbAnswer, question.ID, "")
	menu := component{Type: selectType, CustomID: id, Placeholder: "Choose one"}
	for i, choice := range question.Choices {
		menu.Options = append(menu.Options, option{
			Label: rich.Cut(rich.ChoiceLabel(choice), maxOption), Value: strconv.Itoa(i), Description: rich.Cut(markup.CleanLine(choice.Detail), maxOption),
		})
	}
	return menu, err
}
