package slack

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/chat/interact"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Verbs that Slack's surfaces have beside those of all platforms. An action id is the verb, a
// colon, and the id of the run or question that it is about; of choices a number follows.
const (
	verbMenu interact.Verb = "menu" // one of several things, which the choice names
	verbAsk  interact.Verb = "ask"  // a question of the home tab
)

var verbs = append(interact.Verbs(), verbMenu, verbAsk)

// A block of buttons in a private thread has the thread's id in its own, "in0/slack:…":
// Slack does not tell of the thread with a press there. The number tells the blocks of a
// message apart.
var blockID = regexp.MustCompile(`^in\d/(.+)$`)

func blockThread(id string) (chat.ThreadID, bool) {
	found := blockID.FindStringSubmatch(id)
	if found == nil {
		return "", false
	}
	return chat.ThreadID(found[1]), true
}

// tellThread puts the thread's id into the blocks of buttons.
func tellThread(blocks []slack.Block, thread chat.ThreadID) {
	n := 0
	for _, block := range blocks {
		id := fmt.Sprintf("in%d/%s", n, thread)
		switch block := block.(type) {
		case *slack.ActionBlock:
			block.BlockID = id
		case *slack.ContextActionsBlock:
			block.BlockID = id
		case *slack.InputBlock:
			block.BlockID = id
		default:
			continue
		}
		n++
	}
}

// Limits of what buttons carry.
const (
	maxActionID = 255
	maxValue    = 2000
	maxLabel    = 75
)

// actionID makes an action id. The id of a run or question is the bot's own and short;
// one that does not fit is a mistake.
func actionID(does interact.Verb, about string) (string, error) {
	id := string(does) + ":" + about
	if render.Length(id) > maxActionID {
		return "", fmt.Errorf("the id %q is too long for a button of Slack's; keep ids under 200 characters", render.Head(about, 60)+"…")
	}
	return id, nil
}

// parseAction reads an action id; false for one that is not of this package.
func parseAction(id string) (does interact.Verb, about string, ok bool) {
	name, about, found := strings.Cut(id, ":")
	for _, known := range verbs {
		if found && string(known) == name {
			return known, about, true
		}
	}
	return "", "", false
}

func plainText(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
}

// row collects buttons and the first mistake.
type row struct {
	elements []slack.BlockElement
	err      error
}

func (r *row) addButton(does interact.Verb, about, value, label string) {
	id, err := actionID(does, about)
	if err == nil && render.Length(value) > maxValue {
		err = fmt.Errorf("the choice %q is too long for a button of Slack's; keep ids under %d characters", render.Head(value, 60)+"…", maxValue)
	}
	if err != nil && r.err == nil {
		r.err = err
	}
	r.elements = append(r.elements, slack.NewButtonBlockElement(id, value, plainText(render.Cut(label, maxLabel))))
}

func (r *row) buildBlocks() []slack.Block {
	if len(r.elements) == 0 {
		return nil
	}
	return []slack.Block{slack.NewActionBlock("", r.elements...)}
}

// addButtons adds what people can do about a run.
func (r *row) addButtons(buttons []interact.Button) {
	for _, button := range buttons {
		about := button.About
		if button.Value != "" { // the ids of a message's buttons differ
			about += ":" + button.Value
		}
		r.addButton(button.Verb, about, button.Value, button.Label)
	}
}

// replyButtons stand under an answer or a failure line.
func replyButtons(reply chat.Reply, offer interact.Offer) ([]slack.Block, error) {
	controls := interact.ReplyControls(reply, offer)
	var blocks []slack.Block
	if controls.Rating != "" {
		id, err := actionID(interact.Rate, controls.Rating)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, slack.NewContextActionsBlock("", slack.NewFeedbackButtonsBlockElement(id,
			slack.NewFeedbackButton(plainText("Helpful"), string(chat.Up)),
			slack.NewFeedbackButton(plainText("Not helpful"), string(chat.Down)))))
	}
	buttons := &row{}
	buttons.addButtons(controls.Buttons)
	buttons.addMenu(controls.Menu)
	return append(blocks, buttons.buildBlocks()...), buttons.err
}

// addMenu is what else can be done about an answer.
func (r *row) addMenu(offered []interact.Button) {
	if len(offered) == 0 {
		return
	}
	var options []*slack.OptionBlockObject
	for _, button := range offered {
		options = append(options, slack.NewOptionBlockObject(string(button.Verb), plainText(button.Label), nil))
	}
	id, err := actionID(verbMenu, offered[0].About)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.elements = append(r.elements, slack.NewOverflowBlockElement(id, options...))
}

// questionButtons are a question's choices, and the field for an answer in other words.
func questionButtons(question chat.Question) ([]slack.Block, error) {
	buttons := &row{}
	for i, choice := range question.Choices {
		label := strings.TrimSpace(render.ChoiceLabel(choice))
		if render.Length(label) > maxLabel {
			label = strconv.Itoa(i+1) + ". " + label
		}
		buttons.addButton(interact.Choose, fmt.Sprintf("%s:%d", question.ID, i), choice.ID, label)
	}
	blocks := buttons.buildBlocks()
	if buttons.err != nil || !question.FreeText {
		return blocks, buttons.err
	}
	id, err := actionID(interact.Reply, question.ID)
	if err != nil {
		return nil, err
	}
	input := slack.NewInputBlock("", plainText("Or answer in your own words, here or in the thread"), nil,
		slack.NewPlainTextInputBlockElement(nil, id))
	return append(blocks, input.WithDispatchAction(true).WithOptional(true)), nil
}
