package slacktest

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Which elements may stand where.
var (
	accessoryTypes   = []string{"button", "static_select", "overflow", "image", "users_select", "radio_buttons", "checkboxes"}
	interactiveTypes = []string{"button", "static_select", "overflow", "users_select", "radio_buttons", "checkboxes"}
	agenticTypes     = []string{"feedback_buttons", "icon_button"}
	inputTypes       = []string{"plain_text_input", "static_select", "radio_buttons", "checkboxes", "users_select"}
)

// checkElement checks an element and gives its action id.
func (c *checker) checkElement(pointer string, raw json.RawMessage, allowed []string) (actionID string) {
	var is struct {
		kind
		ActionID string `json:"action_id"`
	}
	if err := json.Unmarshal(raw, &is); err != nil {
		c.addProblem(pointer, "must be an object with a type")
		return ""
	}
	if !slices.Contains(allowed, is.Type) {
		c.addProblem(pointer+"/type", "unsupported type: %s", is.Type)
		return is.ActionID
	}
	c.size += elementCosts
	c.checkLength(pointer+"/action_id", is.ActionID, 0, maxID)
	switch is.Type {
	case "button":
		c.checkButton(pointer, raw)
	case "image":
		c.imageElement(pointer, raw)
	case "plain_text_input":
		c.textInput(pointer, raw)
	case "feedback_buttons":
		c.checkFeedback(pointer, raw)
	case "icon_button":
		c.iconButton(pointer, raw)
	default:
		c.checkSelect(pointer, raw)
	}
	return is.ActionID
}

func (c *checker) checkButton(pointer string, raw json.RawMessage) {
	button, ok := decodeField[struct {
		kind
		ActionID string          `json:"action_id"`
		Text     *text           `json:"text"`
		URL      string          `json:"url"`
		Value    string          `json:"value"`
		Style    string          `json:"style"`
		Confirm  json.RawMessage `json:"confirm"`
		Label    string          `json:"accessibility_label"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	c.textObject(pointer+"/text", button.Text, 75, true)
	c.checkLength(pointer+"/value", button.Value, 0, 2000)
	c.checkLength(pointer+"/accessibility_label", button.Label, 0, 75)
	c.checkStyle(pointer, button.Style)
	if button.URL != "" {
		c.checkAddress(pointer+"/url", button.URL)
	}
	if button.Confirm != nil {
		c.checkConfirm(pointer+"/confirm", button.Confirm)
	}
}

func (c *checker) checkStyle(pointer, style string) {
	if style != "" && style != "primary" && style != "danger" {
		c.addProblem(pointer+"/style", "must be one of primary, danger")
	}
}

func (c *checker) checkConfirm(pointer string, raw json.RawMessage) {
	confirm, ok := decodeField[struct {
		Title   *text  `json:"title"`
		Text    *text  `json:"text"`
		Confirm *text  `json:"confirm"`
		Deny    *text  `json:"deny"`
		Style   string `json:"style"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	c.textObject(pointer+"/title", confirm.Title, 100, true)
	c.textObject(pointer+"/text", confirm.Text, 300, false)
	c.textObject(pointer+"/confirm", confirm.Confirm, 30, true)
	c.textObject(pointer+"/deny", confirm.Deny, 30, true)
	c.checkStyle(pointer, confirm.Style)
}

func (c *checker) imageElement(pointer string, raw json.RawMessage) {
	image, ok := decodeField[struct {
		kind
		ImageURL string `json:"image_url"`
		AltText  string `json:"alt_text"`
	}](c, pointer, raw)
	if ok {
		c.checkAddress(pointer+"/image_url", image.ImageURL)
		c.checkLength(pointer+"/alt_text", image.AltText, 1, maxAltText)
	}
}

func (c *checker) checkFeedback(pointer string, raw json.RawMessage) {
	type feedbackButton struct {
		Text  *text  `json:"text"`
		Value string `json:"value"`
		Label string `json:"accessibility_label"`
	}
	element, ok := decodeField[struct {
		kind
		ActionID string          `json:"action_id"`
		Positive *feedbackButton `json:"positive_button"`
		Negative *feedbackButton `json:"negative_button"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	for at, button := range map[string]*feedbackButton{"/positive_button": element.Positive, "/negative_button": element.Negative} {
		if button == nil {
			c.addProblem(pointer+at, "missing required field")
			continue
		}
		c.textObject(pointer+at+"/text", button.Text, 75, true)
		c.checkLength(pointer+at+"/value", button.Value, 1, 2000)
		c.checkLength(pointer+at+"/accessibility_label", button.Label, 0, 75)
	}
}

func (c *checker) iconButton(pointer string, raw json.RawMessage) {
	button, ok := decodeField[struct {
		kind
		ActionID string          `json:"action_id"`
		Icon     string          `json:"icon"`
		Text     *text           `json:"text"`
		Value    string          `json:"value"`
		Confirm  json.RawMessage `json:"confirm"`
		Label    string          `json:"accessibility_label"`
		Visible  []string        `json:"visible_to_user_ids"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if button.Icon != "trash" { // the only one that is documented
		c.addProblem(pointer+"/icon", "unsupported icon: %s", button.Icon)
	}
	c.textObject(pointer+"/text", button.Text, 75, true)
	c.checkLength(pointer+"/value", button.Value, 0, 2000)
}

func (c *checker) textInput(pointer string, raw json.RawMessage) {
	input, ok := decodeField[struct {
		kind
		ActionID    string          `json:"action_id"`
		Initial     string          `json:"initial_value"`
		Multiline   bool            `json:"multiline"`
		MinLength   int             `json:"min_length"`
		MaxLength   int             `json:"max_length"`
		Placeholder *text           `json:"placeholder"`
		Focus       bool            `json:"focus_on_load"`
		Dispatch    json.RawMessage `json:"dispatch_action_config"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	if input.MaxLength > 3000 || input.MinLength > 3000 || input.MinLength < 0 {
		c.addProblem(pointer+"/max_length", "must be less than 3001")
	}
	c.checkLength(pointer+"/initial_value", input.Initial, 0, 3000)
	if input.Placeholder != nil {
		c.textObject(pointer+"/placeholder", input.Placeholder, 150, true)
	}
}

type option struct {
	Text        *text  `json:"text"`
	Value       string `json:"value"`
	Description *text  `json:"description"`
	URL         string `json:"url"`
}

// checkSelect checks the elements with options.
func (c *checker) checkSelect(pointer string, raw json.RawMessage) {
	element, ok := decodeField[struct {
		kind
		ActionID       string          `json:"action_id"`
		Placeholder    *text           `json:"placeholder"`
		Options        []option        `json:"options"`
		InitialOption  *option         `json:"initial_option"`
		InitialOptions []option        `json:"initial_options"`
		InitialUser    string          `json:"initial_user"`
		Confirm        json.RawMessage `json:"confirm"`
		Focus          bool            `json:"focus_on_load"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	most, textLimit, valueLimit := 100, 75, 150
	switch element.Type {
	case "overflow":
		most = 5
	case "radio_buttons", "checkboxes":
		most = 10
	case "users_select":
		return
	}
	c.checkCount(pointer+"/options", len(element.Options), 1, most)
	for i, choice := range element.Options {
		at := pointer + "/options/" + strconv.Itoa(i)
		c.textObject(at+"/text", choice.Text, textLimit, element.Type == "static_select" || element.Type == "overflow")
		c.checkLength(at+"/value", choice.Value, 1, valueLimit)
		if choice.Description != nil {
			c.textObject(at+"/description", choice.Description, 75, false)
		}
	}
	if element.Placeholder != nil {
		c.textObject(pointer+"/placeholder", element.Placeholder, 150, true)
	}
}

func (c *checker) checkInput(pointer string, raw json.RawMessage) {
	block, ok := decodeField[struct {
		kind
		BlockID  string          `json:"block_id"`
		Label    *text           `json:"label"`
		Element  json.RawMessage `json:"element"`
		Hint     *text           `json:"hint"`
		Optional bool            `json:"optional"`
		Dispatch bool            `json:"dispatch_action"`
	}](c, pointer, raw)
	if !ok {
		return
	}
	c.blockID(pointer, block.BlockID)
	c.textObject(pointer+"/label", block.Label, 2000, true)
	if block.Hint != nil {
		c.textObject(pointer+"/hint", block.Hint, 2000, true)
	}
	c.checkElement(pointer+"/element", block.Element, inputTypes)
}
