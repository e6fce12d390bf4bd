package discordtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Types of components.
const (
	componentRow         = 1
	componentButton      = 2
	componentSelect      = 3
	componentTextInput   = 4
	componentChannels    = 8 // the last of the selects
	componentSection     = 9
	componentDisplay     = 10
	componentThumbnail   = 11
	componentGallery     = 12
	componentFile        = 13
	componentSeparator   = 14
	componentContainer   = 17
	componentLabel       = 18
	buttonLink           = 5
	buttonPremium        = 6
	maxModalRows         = 5
	maxTextInput         = 4000
	duplicatedCustomID   = "COMPONENT_CUSTOM_ID_DUPLICATED"
	requiredField        = "BASE_TYPE_REQUIRED"
	componentLayoutWidth = "COMPONENT_LAYOUT_WIDTH_EXCEEDED"
)

type media struct {
	URL string `json:"url"`
}

type selectOption struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description"`
	Default     bool   `json:"default"`
}

// component is a component of any type.
type component struct {
	Type        int             `json:"type"`
	ID          int             `json:"id"`
	CustomID    string          `json:"custom_id"`
	Style       int             `json:"style"`
	Label       string          `json:"label"`
	Emoji       json.RawMessage `json:"emoji"`
	URL         string          `json:"url"`
	Disabled    bool            `json:"disabled"`
	Placeholder string          `json:"placeholder"`
	Options     []selectOption  `json:"options"`
	MinValues   *int            `json:"min_values"`
	MaxValues   *int            `json:"max_values"`
	Content     string          `json:"content"`
	Components  []component     `json:"components"`
	Accessory   *component      `json:"accessory"`
	Component   *component      `json:"component"`
	Media       media           `json:"media"`
	Items       []struct {
		Media media `json:"media"`
	} `json:"items"`
	File        media  `json:"file"`
	Description string `json:"description"`
	Value       string `json:"value"`
	Required    *bool  `json:"required"`
	MinLength   *int   `json:"min_length"`
	MaxLength   *int   `json:"max_length"`
}

func decodeComponents(list json.RawMessage) []component {
	var found []component
	if list != nil {
		if err := json.Unmarshal(list, &found); err != nil {
			panic("discordtest: components that passed their schema: " + err.Error())
		}
	}
	return found
}

// defaultsOf are the fields that Discord adds to components, by their type.
var defaultsOf = map[string]map[string]string{
	"3":  {"min_values": "1", "max_values": "1"},
	"14": {"spacing": "1", "divider": "true"},
	"17": {"accent_color": "null", "spoiler": "false"},
}

// numberComponents returns components as Discord keeps them: those without an id get one each, in
// their order, and fields that were not given have their defaults.
func numberComponents(list json.RawMessage) json.RawMessage {
	if list == nil {
		return nil
	}
	taken := map[int]bool{}
	eachComponent(decodeComponents(list), nil, func(one component, _ []string) { taken[one.ID] = true })
	last := 0
	next := func() json.RawMessage {
		for last++; taken[last]; last++ {
		}
		return mustJSON(last)
	}
	return numberNested(list, next)
}

// numberNested does so below components, whatever fields they have.
func numberNested(value json.RawMessage, next func() json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		for i := range list {
			list[i] = numberNested(list[i], next)
		}
		return mustJSON(list)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) != nil {
		return value // null
	}
	if given := string(object["id"]); given == "" || given == "null" || given == "0" {
		object["id"] = next()
	}
	for field, value := range defaultsOf[string(object["type"])] {
		if object[field] == nil {
			object[field] = json.RawMessage(value)
		}
	}
	for _, inside := range []string{"components", "accessory", "component"} {
		if object[inside] != nil {
			object[inside] = numberNested(object[inside], next)
		}
	}
	return mustJSON(object)
}

// eachComponent calls do with every component, those inside of others included, and the path to it.
func eachComponent(list []component, path []string, do func(component, []string)) {
	for i, one := range list {
		visitComponent(one, append(slices.Clone(path), strconv.Itoa(i)), do)
	}
}

func visitComponent(one component, path []string, do func(component, []string)) {
	do(one, path)
	eachComponent(one.Components, append(slices.Clone(path), "components"), do)
	if one.Accessory != nil {
		visitComponent(*one.Accessory, append(slices.Clone(path), "accessory"), do)
	}
	if one.Component != nil {
		visitComponent(*one.Component, append(slices.Clone(path), "component"), do)
	}
}

// displayedText returns all text that components show.
func displayedText(list []component) string {
	var texts []string
	eachComponent(list, nil, func(one component, _ []string) {
		if one.Type == componentDisplay {
			texts = append(texts, one.Content)
		}
	})
	return strings.Join(texts, "\n")
}

func checkComponents(list []component, modern bool, form *formErrors) {
	root := []string{"components"}
	if !modern {
		if len(list) > maxRows {
			form.addError(root, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
		}
		for i, one := range list {
			if one.Type != componentRow {
				form.addError([]string{"components", strconv.Itoa(i), "type"}, "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
			}
		}
	}
	count := 0
	eachComponent(list, root, func(component, []string) { count++ })
	if count > maxComponents {
		form.addError(root, "BASE_TYPE_MAX_LENGTH", "Must be 40 or fewer in length.")
	}
	if Length(displayedText(list)) > maxDisplayed {
		form.addError(root, "COMPONENT_MAX_TOTAL_COMPONENT_TEXT_LENGTH_EXCEEDED", "The total text is limited to 4000 characters.")
	}
	checkParts(list, root, form)
}

// checkParts checks components each by itself, and that their ids differ.
func checkParts(list []component, root []string, form *formErrors) {
	customIDs, ids := map[string]bool{}, map[int]bool{}
	eachComponent(list, root, func(one component, path []string) {
		under := func(field string) []string { return append(slices.Clone(path), field) }
		if one.CustomID != "" {
			if customIDs[one.CustomID] {
				form.addError(under("custom_id"), duplicatedCustomID, "Component custom id cannot be duplicated")
			}
			customIDs[one.CustomID] = true
			form.checkMax(Length(one.CustomID), 100, under("custom_id")...)
		}
		if one.ID != 0 {
			if ids[one.ID] {
				form.addError(under("id"), "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated")
			}
			ids[one.ID] = true
		}
		switch {
		case one.Type == componentButton:
			checkButton(one, under, form)
		case one.Type == componentRow:
			checkRow(one, under, form)
		case one.Type == componentSelect || one.Type > componentTextInput && one.Type <= componentChannels:
			checkSelect(one, under, form)
		case one.Type == componentDisplay:
			form.checkPresent(one.Content, under("content"))
		}
	})
}

func checkButton(one component, under func(string) []string, form *formErrors) {
	form.checkMax(Length(one.Label), 80, under("label")...)
	switch {
	case one.Style == buttonPremium:
		return
	case one.Style == buttonLink && (one.URL == "" || one.CustomID != ""):
		form.addError(under("url"), "BUTTON_COMPONENT_URL_REQUIRED", "A link button needs a url and no custom id.")
	case one.Style != buttonLink && (one.CustomID == "" || one.URL != ""):
		form.addError(under("custom_id"), "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required, and a url is for link buttons alone.")
	}
	if strings.TrimSpace(one.Label) == "" && nonEmpty(one.Emoji) == nil {
		form.addError(under("label"), requiredField, "A button needs a label or an emoji.")
	}
}

func checkRow(one component, under func(string) []string, form *formErrors) {
	width := 0
	for _, inside := range one.Components {
		if inside.Type == componentButton {
			width++
		} else {
			width += maxRows // a select, like a text input, takes a row by itself
		}
	}
	if width > maxRows {
		form.addError(under("components"), componentLayoutWidth, "Components displayed in a row must fit 5 wide.")
	}
}

func checkSelect(one component, under func(string) []string, form *formErrors) {
	form.checkMax(Length(one.Placeholder), 150, under("placeholder")...)
	values, defaults := map[string]bool{}, 0
	for i, option := range one.Options {
		at := under("options")
		field := func(name string) []string { return append(slices.Clone(at), strconv.Itoa(i), name) }
		form.checkMax(Length(option.Label), 100, field("label")...)
		form.checkMax(Length(option.Value), 100, field("value")...)
		form.checkMax(Length(option.Description), 100, field("description")...)
		if values[option.Value] {
			form.addError(field("value"), "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
		}
		values[option.Value] = true
		if option.Default {
			defaults++
		}
	}
	least, most := 1, 1
	if one.MinValues != nil {
		least = *one.MinValues
	}
	if one.MaxValues != nil {
		most = *one.MaxValues
	}
	if least > most || defaults > most || one.Type == componentSelect && most > len(one.Options) {
		form.addError(under("max_values"), "SELECT_COMPONENT_MAX_VALUES", "It must be at least min_values and at most the number of options.")
	}
}

// checkModal checks the components of a modal.
func checkModal(list []component, form *formErrors) {
	root := []string{"data", "components"}
	if len(list) > maxModalRows {
		form.addError(root, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	checkParts(list, root, form)
	eachComponent(list, root, func(one component, path []string) {
		if one.Type != componentTextInput {
			return
		}
		inLabel := len(path) > 0 && path[len(path)-1] == "component"
		if inLabel == (one.Label != "") {
			form.addError(append(slices.Clone(path), "label"), requiredField, "A text input in a row needs a label; in a label it has none.")
		}
		least, most := 0, maxTextInput
		if one.MinLength != nil {
			least = *one.MinLength
		}
		if one.MaxLength != nil {
			most = *one.MaxLength
		}
		if least > most || Length(one.Value) > most {
			form.addError(append(slices.Clone(path), "max_length"), "BASE_TYPE_MAX_LENGTH", "It must be at least min_length and the length of value.")
		}
	})
}
