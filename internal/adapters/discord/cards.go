package discord

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/chat/markup"
	"github.com/cairn-bot/cairn/internal/chat/render"
)

// Discord's limits on a message that is made of components, and what is used of them: one part and
// some text stay free for how many sources are not shown.
const (
	maxParts     = 40
	maxDisplayed = 4000
	partsBudget  = maxParts - 1
	textBudget   = maxDisplayed - 100
)

// displayCards shows sources in a box, by category: a card each with a button that opens it, or
// where there are too many for that a line each.
func displayCards(cards []render.SourceCard) []component {
	box, folded := boxCards(cards, cardWithButton)
	if folded > 0 {
		box, folded = boxCards(cards, cardAsLine)
	}
	if folded > 0 {
		box = append(box, component{Type: textType, Content: "-# and " + markup.MoreDocuments(folded)})
	}
	return []component{{Type: containerType, Components: box, AccentColor: accent}}
}

// boxCards gives the parts of a box with as many cards as there is room for. Cards of a category that
// are text alone are one part.
func boxCards(cards []render.SourceCard, show func(render.SourceCard) component) (box []component, folded int) {
	box = []component{{Type: textType, Content: "### Sources"}}
	parts, letters := 2, render.Length(box[0].Content) // the box is one
	category := ""
	for i, card := range cards {
		shown := []component{show(card)}
		if card.Category != category && card.Category != "" {
			shown = []component{{Type: separatorType}, {Type: textType, Content: "**" + escapeText(card.Category, false) + "**"}, shown[0]}
		}
		last := &box[len(box)-1]
		if joins := len(shown) == 1 && i > 0 && shown[0].Type == textType && last.Type == textType; joins {
			if letters += render.Length(shown[0].Content) + 1; letters > textBudget {
				return box, len(cards) - i
			}
			last.Content += "\n" + shown[0].Content
			continue
		}
		for _, part := range shown {
			parts, letters = parts+countParts(part), letters+countLetters(part)
		}
		if parts > partsBudget || letters > textBudget {
			return box, len(cards) - i
		}
		category = card.Category
		box = append(box, shown...)
	}
	return box, 0
}

// cardWithButton is a source's name and what is known of it, beside a button that opens it.
func cardWithButton(card render.SourceCard) component {
	text := component{Type: textType, Content: writeRuns(card.Title)}
	if details := writeRuns(card.Details); details != "" {
		text.Content += "\n-# " + details
	}
	if card.Address == "" {
		return text
	}
	open := component{Type: buttonType, Style: link, Label: "Open", URL: card.Address}
	return component{Type: sectionType, Components: []component{text}, Accessory: &open}
}

// cardAsLine is a source as an item of a list.
func cardAsLine(card render.SourceCard) component {
	line := writeRuns(card.Title)
	if details := writeRuns(card.Details); details != "" {
		line += ": " + details
	}
	return component{Type: textType, Content: "- " + strings.ReplaceAll(line, "\n", " ")}
}

// countParts is how many components a component is, with those in it.
func countParts(of component) int {
	parts := 1
	for _, inside := range of.Components {
		parts += countParts(inside)
	}
	if of.Accessory != nil {
		parts += countParts(*of.Accessory)
	}
	return parts
}

// countLetters is how much text a component shows.
func countLetters(of component) int {
	letters := render.Length(of.Content) + 1
	for _, inside := range of.Components {
		letters += countLetters(inside)
	}
	return letters
}
