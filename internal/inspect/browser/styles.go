package browser

import (
	"context"
	"slices"
	"strings"
)

// Style is one value of a control's style, with the rule that won.
type Style struct {
	Name  string `json:"name"`  // "background-color"
	Value string `json:"value"` // as the rule has it
	Rule  string `json:"rule"`  // its selector: ".btn:disabled"; Inline where the element has it itself
	// Inherited tells that an element around the control has it.
	Inherited bool `json:"inherited,omitempty"`
	// Own tells that it is the browser's own rule, which stands in no file.
	Own bool `json:"own,omitempty"`
	Place
	// Beaten are the weaker rules that set it too, the strongest first.
	Beaten []Beaten `json:"beaten,omitempty"`
}

// Beaten is a rule that does not win.
type Beaten struct {
	Value string `json:"value"`
	Rule  string `json:"rule"`
}

// Inline is the rule of an element's own style.
const Inline = "style"

// told are the properties whose rules are told, and those of them that are inherited.
var (
	told      = []string{"color", "background-color", "background", "opacity", "display", "visibility", "cursor", "pointer-events", "font-size", "font-weight", "font-family", "border", "border-color", "padding", "margin", "width", "height", "filter"}
	inherited = []string{"color", "visibility", "cursor", "pointer-events", "font-size", "font-weight", "font-family"}
)

const maxBeaten = 3

type cssProperty struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Important bool   `json:"important"`
	Disabled  bool   `json:"disabled"`
	Range     *struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn"`
	} `json:"range"`
}

type cssStyle struct {
	Sheet      string        `json:"styleSheetId"`
	Properties []cssProperty `json:"cssProperties"`
}

type cssMatch struct {
	Rule struct {
		Sheet     string `json:"styleSheetId"`
		Origin    string `json:"origin"` // "regular", "user-agent"
		Selectors struct {
			Text string `json:"text"`
		} `json:"selectorList"`
		Style cssStyle `json:"style"`
	} `json:"rule"`
}

// matched are the rules of an element, the weakest first.
type matched struct {
	Inline  cssStyle   `json:"inlineStyle"`
	Matches []cssMatch `json:"matchedCSSRules"`
}

func sheetKey(id string) string { return "style sheet " + id }

// readStyles finds which rules style a control.
func (l *look) readStyles(ctx context.Context, backend int64) ([]Style, error) {
	for _, method := range []string{"DOM.enable", "CSS.enable"} {
		if _, err := execute[struct{}](ctx, method, map[string]any{}); err != nil {
			return nil, err
		}
	}
	if _, err := execute[struct{}](ctx, "DOM.getDocument", map[string]any{"depth": 0}); err != nil {
		return nil, err
	}
	pushed, err := execute[struct {
		IDs []int64 `json:"nodeIds"`
	}](ctx, "DOM.pushNodesByBackendIdsToFrontend", map[string]any{"backendNodeIds": []int64{backend}})
	if err != nil || len(pushed.IDs) == 0 {
		return nil, err
	}
	rules, err := execute[struct {
		matched
		Inherited []matched `json:"inherited"`
	}](ctx, "CSS.getMatchedStylesForNode", map[string]any{"nodeId": pushed.IDs[0]})
	if err != nil {
		l.addProblem("the rules that style it can't be read")
		return nil, nil //nolint:nilerr // the problem says so
	}
	var styles []Style
	for _, name := range told {
		style, ok := l.findWinner(ctx, rules.matched, name)
		for i := 0; !ok && i < len(rules.Inherited) && slices.Contains(inherited, name); i++ {
			style, ok = l.findWinner(ctx, rules.Inherited[i], name)
			style.Inherited = true
		}
		if ok {
			styles = append(styles, style)
		}
	}
	// The colour that a rule sets by "background" is told once, as it is written.
	return slices.DeleteFunc(styles, func(style Style) bool {
		return style.Name == "background-color" && style.File == "" && !style.Own &&
			slices.ContainsFunc(styles, func(other Style) bool { return other.Name == "background" && other.Rule == style.Rule })
	}), nil
}

// find gives what sets a property in a style, as it is written where it stands there itself; ok is
// false where nothing does.
func (s cssStyle) find(name string) (found cssProperty, ok bool) {
	for _, property := range s.Properties {
		if property.Name == name && !property.Disabled && property.Value != "" && (property.Range != nil || found.Range == nil) {
			found, ok = property, true
		}
	}
	return found, ok
}

// declaration is one place that sets a property.
type declaration struct {
	style    Style
	property cssProperty
	sheet    string
}

// findWinner finds the rule of an element that sets a property; ok is false where none does.
func (l *look) findWinner(ctx context.Context, rules matched, name string) (winner Style, ok bool) {
	var all []declaration // the strongest first
	add := func(style cssStyle, rule, origin string) {
		property, ok := style.find(name)
		if !ok {
			return
		}
		one := declaration{Style{Name: name, Value: l.cut(property.Value), Rule: l.cut(rule), Own: origin == "user-agent"}, property, style.Sheet}
		at := 0 // later rules are stronger, those that are important strongest
		for !property.Important && at < len(all) && all[at].property.Important {
			at++
		}
		all = slices.Insert(all, at, one)
	}
	for _, match := range rules.Matches {
		add(match.Rule.Style, match.Rule.Selectors.Text, match.Rule.Origin)
	}
	add(rules.Inline, Inline, "regular")
	if len(all) == 0 {
		return Style{}, false
	}
	winner = all[0].style
	for _, weaker := range all[1:] {
		if len(winner.Beaten) < maxBeaten && !weaker.style.Own {
			winner.Beaten = append(winner.Beaten, Beaten{weaker.style.Value, weaker.style.Rule})
		}
	}
	if at := all[0].property.Range; at != nil && winner.Rule != Inline && !winner.Own {
		winner.Place = l.locate(ctx, sheetKey(all[0].sheet), at.Line, at.Column, "")
		winner.Code = ""
	}
	winner.Value = strings.TrimSpace(winner.Value)
	return winner, true
}
