package discord

import (
	"slices"
	"strconv"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
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

func (r *buttonRow) addButton(style int, does interact.Verb, about, value, label string) {
	id, err := customID(does, about, value)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.buttons = append(r.buttons, component{Type: buttonType, Style: style, CustomID: id, Label: render.Cut(label, maxLabel)})
}

func (r *buttonRow) buildRows() []component {
	if len(r.buttons) == 0 {
		return nil
	}
	var rows []component
	for row := range slices.Chunk(r.buttons, maxButtons) {
		rows = append(rows, component{Type: rowType, Components: row})
	}
	return rows
}

// The values of verbRate.
const (
	thumbUp   = "u"
	thumbDown = "d"
)

// emphases are Discord's styles of buttons.
var emphases = map[interact.Emphasis]int{interact.Plain: secondary, interact.Primary: primary, interact.Positive: success}

// addButtons adds what people can do about a run.
func (r *buttonRow) addButtons(buttons []interact.Button) {
	for _, button := range buttons {
		r.addButton(emphases[button.Emphasis], button.Verb, button.About, button.Value, button.Label)
	}
}

// replyButtons stand under an answer or a failure line: five at most, and a menu.
func replyButtons(reply chat.Reply, how look) ([]component, error) {
	controls := interact.ReplyControls(reply, interact.Offer{Human: how.human, Private: how.private})
	r := &buttonRow{}
	if controls.Rating != "" {
		r.addButton(secondary, interact.Rate, controls.Rating, thumbUp, "Helpful")
		r.addButton(secondary, interact.Rate, controls.Rating, thumbDown, "Not helpful")
	}
	r.addButtons(controls.Buttons)
	if len(controls.Menu) == 0 {
		return r.buildRows(), r.err
	}
	menu, err := replyMenu(controls.Menu)
	if r.err == nil {
		r.err = err
	}
	return append(r.buildRows(), component{Type: rowType, Components: []component{menu}}), r.err
}

// replyMenu is what else can be done about an answer.
func replyMenu(offered []interact.Button) (component, error) {
	id, err := customID(verbMenu, offered[0].About, "")
	menu := component{Type: selectType, CustomID: id, Placeholder: "More"}
	for _, button := range offered {
		menu.Options = append(menu.Options, option{Label: button.Label, Value: string(button.Verb)})
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
			choices.addButton(primary, interact.Choose, question.ID, strconv.Itoa(i), render.ChoiceLabel(choice))
		}
		rows = choices.buildRows()
	} else {
		menu, err := choiceMenu(question)
		if err != nil {
			return nil, err
		}
		rows = []component{{Type: rowType, Components: []component{menu}}}
	}
	more := &buttonRow{}
	if question.FreeText {
		more.addButton(secondary, verbWords, question.ID, "", "In my own words")
	}
	more.addButton(secondary, interact.Stop, string(question.Run), "", "Stop")
	if choices.err != nil {
		return nil, choices.err
	}
	return append(rows, more.buildRows()...), more.err
}

func choiceMenu(question chat.Question) (component, error) {
	id, err := customID(interact.Choose, question.ID, "")
	menu := component{Type: selectType, CustomID: id, Placeholder: "Choose one"}
	for i, choice := range question.Choices {
		menu.Options = append(menu.Options, option{
			Label: render.Cut(render.ChoiceLabel(choice), maxOption), Value: strconv.Itoa(i), Description: render.Cut(markup.CleanLine(choice.Detail), maxOption),
		})
	}
	return menu, err
}
