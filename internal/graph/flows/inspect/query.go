package inspect

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/inspect/session"
	"github.com/cairn-bot/cairn/internal/repository"
)

// begin is the state that a run of a request begins with.
func (f *Flow) begin(request flows.Request) State {
	location, text := request.Located()
	channel, text := cutChannel(text)
	page, text := f.cutPage(text)
	s := State{RequestID: request.Run, Query: strings.TrimSpace(text), Channel: channel, WebPage: WebPage{Address: page}, StartTime: f.options.Now()}
	switch {
	case location.Place == flows.Folder:
		s.Project = strings.TrimRight(location.Name, ",;:!?")
	case address.MatchString(text):
		found := address.FindStringIndex(text)
		s.Project = cleanAddress(text[found[0]:found[1]])
		s.Query = strings.TrimSpace(text[:found[0]] + " " + text[found[1]:])
	default:
		s.Project = f.options.Project
		for _, turn := range request.History {
			turn = f.inheritPage(&s, turn, page == "")
			if named := projectIn(turn); named != "" {
				s.Project = named
			}
		}
	}
	if s.WebPage.Address != "" {
		s.WebPage.At, s.Query = cutPoint(s.Query)
		s.WebPage.Press = wantsPress(s.Query)
	}
	for _, turn := range request.History {
		if named, _ := cutChannel(turn.Text); turn.Role == flows.User && named.ID != "" && channel.ID == "" {
			s.Channel = named
		}
	}
	for _, attached := range request.Attachments {
		if session.IsName(attached.Name) {
			s.Session = attached.Text
		}
	}
	for _, turn := range request.History {
		if found := headline.FindStringSubmatch(turn.Text); turn.Role == flows.Assistant && found != nil {
			s.Previous = Previous{Widget: found[1], Page: found[2]}
		}
	}
	return s
}

var (
	address = regexp.MustCompile(`(?:^|\s)[<(]?https?://[^\s<>|]+(?:\|[^\s>]*)?>?`)
	// asked is how a message says that it is for this flow, before the project.
	asked = regexp.MustCompile(`(?i)^\s*(?:(?:/cairn|@\S+|<@[^>]+>)[,:]?\s+)?inspect:?\s+`)
	// headline is how an answer begins: follow-ups are about the same widget and page.
	headline = regexp.MustCompile("^(?:\\*\\*)?`([^`\n]+)`(?:\\*\\*)?(?: \\([^)\n]*\\))? on page `([^`\n]+)`")
)

// channelName is how a message names a channel: "channel:ABC", or "channel:ABC@relay.example".
var channelName = regexp.MustCompile(`(?i)(?:^|\s)channel[:=]\s*([A-Za-z0-9_-]+)(?:@([A-Za-z0-9.:\[\]-]+))?`)

// cutChannel gives the channel that a text names, and the text without it.
func cutChannel(text string) (named Channel, rest string) {
	found := channelName.FindStringSubmatch(text)
	if found == nil {
		return Channel{}, text
	}
	return Channel{ID: found[1], Host: strings.Trim(found[2], ".:")}, strings.TrimSpace(strings.Replace(text, found[0], "", 1))
}

// projectIn is the project that an earlier message of the thread names, "" for none.
func projectIn(turn flows.Turn) string {
	prefix := asked.FindString(turn.Text)
	if turn.Role != flows.User || prefix == "" {
		return ""
	}
	text := turn.Text[len(prefix):]
	if location, _ := flows.ParseLocation(text); location.Place == flows.Folder {
		return strings.TrimRight(location.Name, ",;:!?")
	}
	return cleanAddress(address.FindString(text))
}

// analyzeQuery finds the pages of the project and what the question is about.
func (f *Flow) analyzeQuery(ctx context.Context, step graph.Step[State]) (result graph.Result[State], err error) {
	s := step.State
	if s.WebPage.Address != "" {
		return graph.Update(f.analyzeWebQuery(ctx, s)...), nil
	}
	if s.Project == "" {
		return graph.Update(complete(ctx, StepQuery, flows.Failed), failure.Set(
			"I don't know which app you mean: name the folder of its project, as in `inspect: ./shop what does button2 do?`, or its address.")), nil
	}
	checkout, err := f.options.Open(ctx, s.Project)
	if refused, is := errors.AsType[*repository.RefusedError](err); is {
		text := refused.Text
		if repository.IsAddress(s.Project) {
			text += " If it is a web page: I look at those that the setting `inspect.pages` lists."
		}
		return graph.Update(complete(ctx, StepQuery, flows.Failed), failure.Set(text)), nil
	}
	if err != nil {
		return graph.Result[State]{}, fmt.Errorf("open the project: %w", err)
	}
	defer func() { err = errors.Join(err, checkout.Close()) }()
	started := f.options.Now()
	files := make([]string, len(checkout.Files))
	for i, file := range checkout.Files {
		files[i] = file.Path
	}
	found := project.FindPages(files)
	use := ToolUse{
		Tool: "find_files", Arguments: "*.component.{js,jsx,ts,tsx}", Result: fmt.Sprintf("%d pages", len(found)), Duration: f.options.Now().Sub(started),
	}
	changes := []graph.Change[State]{
		name.Set(checkout.Name), commit.Set(checkout.Commit), web.Set(checkout.Web), pages.Set(found), shared.Set(project.FindShared(files)),
		toolUsage.Set([]ToolUse{use}),
	}
	if len(found) == 0 {
		return graph.Update(append(changes, complete(ctx, StepQuery, flows.Failed), failure.Set(fmt.Sprintf(
			"I found no page in `%s`: a page has a file `<Page>.component.js` (or .jsx, .ts, .tsx). Name the folder of the app's project.", checkout.Name)))...), nil
	}
	return graph.Update(append(changes, queryAnalysis.Set(analyze(s.Query, found, s.Previous)), complete(ctx, StepQuery, flows.Completed))...), nil
}

// Words of questions.
var (
	selectedWords = regexp.MustCompile(`(?i)\b(?:(?:the\s+)?(?:currently\s+)?selected(?:\s+(?:widget|element|control|component|one))?|this\s+(?:widget|element|control|button|label|field|input|link|icon|component|list|image))\b`)
	quotedName    = regexp.MustCompile("[`\"“”'‘’«»]([^`\"“”'‘’«»\n]{1,60})[`\"“”'‘’«»]")
	madeName      = regexp.MustCompile(`\b[a-zA-Z][a-zA-Z]*(?:_[a-zA-Z0-9]+|\d+)[a-zA-Z0-9_]*\b|\b[a-z]+[A-Z][A-Za-z0-9]*\b`)
	kindWords     = regexp.MustCompile(`(?i)\b(?:the|a|an|my|that|other|about)\s+((?:[\p{L}\p{N}&+-]+\s+){1,3}?)(?:button|btn|link|label|field|input|widget|icon|tab|list|image|checkbox|toggle|control|element|dropdown|menu item)\b`)
	actedOn       = regexp.MustCompile(`(?i)\b(?:tap(?:ping)?(?:\s+on)?|press(?:ing)?|click(?:ing)?(?:\s+on)?|hit(?:ting)?|touch(?:ing)?|choose|open)\s+(?:on\s+)?(?:the\s+)?([\p{L}\p{N}&+-]+(?:\s+[\p{L}\p{N}&+-]+)?)`)
	aboutName     = regexp.MustCompile(`(?i)\b(?:what|how) about\s+([\p{L}\p{N}&+-]+(?:\s+[\p{L}\p{N}&+-]+){0,3})\W*$`)
	otherOne      = regexp.MustCompile(`(?i)\b(?:the|that|its?) other\s+(?:one|button|btn|link|label|field|input|widget|icon|tab|list|image|checkbox|toggle|control)\b`)
	pageWords     = regexp.MustCompile(`(?i)\b(?:on|in|of|at|from)\s+(?:the\s+)?(?:page\s+|screen\s+)?[\x60"'“]?([\p{L}\p{N}_-]+)[\x60"'”]?(?:\s+(?:page|screen|view))?`)
	targetWords   = regexp.MustCompile(`(?i)\b(?:navigate|go|get|move|lead|switch)\w*\s+to\s+(?:the\s+)?(?:page\s+)?[\x60"'“]?([\p{L}\p{N}_-]+)`)
)

var (
	kindWord = regexp.MustCompile(`(?i)\b(?:button|label|anchor|link|text|number|select|checkbox|radioset|list|card|carousel|picture|icon|tabs?|tabbar|panel|chart|progress|search|toggle|switch|form|table)\b`)
	bareKind = regexp.MustCompile(`(?i)\bthe\s+(button|list|form|card|carousel|search|table|chart|tabbar|panel)\b`)
	// values are kinds of styles, by a part of their names.
	values = []struct {
		name  string
		words *regexp.Regexp
	}{
		{"color", regexp.MustCompile(`(?i)\b(?:colou?r|gr[ea]y|red|green|blue|white|black|yellow|orange|purple|dark|light)`)},
		{"background", regexp.MustCompile(`(?i)\bbackground`)},
		{"font", regexp.MustCompile(`(?i)\bfont`)},
		{"border", regexp.MustCompile(`(?i)\bborder`)},
		{"padding", regexp.MustCompile(`(?i)\bpadding`)},
		{"margin", regexp.MustCompile(`(?i)\bmargin`)},
	}
)

// actions are what people do to widgets, by the beginning of the events that it makes.
var actions = []struct {
	name, event string
	words       *regexp.Regexp
}{
	{"long tap", "onLong", regexp.MustCompile(`(?i)\b(?:long[- ]?(?:tap|press)|hold)`)},
	{"tap", "onTap", regexp.MustCompile(`(?i)\b(?:tap|press|click|hit|touch|push)`)},
	{"change", "onChange", regexp.MustCompile(`(?i)\b(?:chang|typ(?:e|ing)|enter|edit)`)},
	{"select", "onSelect", regexp.MustCompile(`(?i)\b(?:choose|pick|select(?:s|ing)? )`)},
	{"blur", "onBlur", regexp.MustCompile(`(?i)\b(?:blur|leav(?:e|ing))`)},
	{"load", "onLoad", regexp.MustCompile(`(?i)\bload`)},
	{"swipe", "onSwipe", regexp.MustCompile(`(?i)\bswip`)},
}

// informationWord is how people ask for something.
type informationWord struct {
	about Information
	words *regexp.Regexp
}

var informationWords = []informationWord{
	{AboutTheme, regexp.MustCompile(`(?i)\b(?:default|theme)\b.*\b(?:colou?r|style|theme|font|size|background)|\btheme\b`)},
	{AboutNavigation, regexp.MustCompile(`(?i)\bhow\b.*\b(?:navigate|go to|get to|pass)\b`)},
	{AboutRequests, regexp.MustCompile(`(?i)\b(?:requests?|api|call|service|network)\b.*\b(?:fail|error|wrong|broken|slow)|\bfail(?:s|ing|ed)?\b|\berrors?\b|\bconsole\b`)},
	{AboutStyles, regexp.MustCompile(`(?i)\b(?:style|colou?r|gr[ea]y|font|look(?:s|ing)?\b|css|class|background|border|margin|padding|width|height|red|green|blue|white|black|yellow|orange|purple|dark|bold|big|small|hidden|invisible|visible)`)},
	{AboutProperties, regexp.MustCompile(`(?i)\b(?:propert|value|caption|datavalue|attribut|disabled|enabled|shown|displayed|how many|bound|dataset|data)\w*`)},
	{AboutEvents, regexp.MustCompile(`(?i)\b(?:events?|handlers?|callbacks?|listeners?)\b`)},
	{AboutOwners, regexp.MustCompile(`(?i)\bwho\b.{0,30}\b(?:owns?|maintains?|responsible|built|wrote)\b|\bowners?\b|\bcodeowners\b`)},
	{AboutLocation, regexp.MustCompile(`(?i)\bwhere\b|\bwhich file\b|\bdefined\b|\blocated\b`)},
	{AboutBehaviour, regexp.MustCompile(`(?i)\bwhat\b.{0,20}\b(?:do|does|did|will|would)\b|\b(?:happen|tap|press|click|trigger|action|invoke|lead)\w*`)},
}

// analyze reads a question by rules.
func analyze(text string, pages []project.Page, before Previous) QueryAnalysis {
	var made QueryAnalysis
	for _, wanted := range informationWords {
		if wanted.words.MatchString(text) {
			made.InformationNeeded = append(made.InformationNeeded, wanted.about)
		}
	}
	if len(made.InformationNeeded) == 0 {
		made.InformationNeeded = []Information{AboutLocation, AboutBehaviour, AboutEvents, AboutStyles, AboutProperties}
	}
	for _, action := range actions {
		if action.words.MatchString(selectedWords.ReplaceAllString(text, " ")) {
			made.Action = action.name
			break
		}
	}
	if found := targetWords.FindStringSubmatch(text); found != nil {
		made.Target = found[1]
		if page, ok := project.Named(pages, found[1]); ok {
			made.Target = page.Name
		} else if !madeName.MatchString(found[1]) {
			made.Target = ""
		}
	}
	made.Page = pageIn(text, pages, made.Target)
	if found := kindWord.FindString(text); found != "" {
		made.WidgetKind = strings.ToLower(found)
	}
	for _, value := range values {
		if value.words.MatchString(text) {
			made.Value = value.name
		}
	}
	if otherOne.MatchString(text) && before.Widget != "" {
		made.Except = before.Widget
	}
	// What a page is called is no widget, but for "tap Checkout on Main".
	isPage := func(name string) bool {
		page, ok := project.Named(pages, name)
		return ok && (made.Page == "" || page.Name == made.Page || page.Name == made.Target)
	}
	made.WidgetReference = referenceIn(text, isPage)
	if made.asksOnlyFor(AboutTheme) {
		made.WidgetReference = ""
	} else if made.WidgetReference == "" {
		if found := bareKind.FindStringSubmatch(text); found != nil {
			made.WidgetReference = strings.ToLower(found[1])
		}
	}
	if made.WidgetReference == "" && made.Except == "" && !made.asksOnlyFor(AboutTheme, AboutRequests) {
		made.WidgetReference = before.Widget
	}
	if made.Page == "" && before.Widget != "" {
		made.Page = before.Page
	}
	made.ExecutionPlan = made.plan()
	return made
}

// pageIn is the page that a question says it is about, with a slip of the keyboard or without, ""
// for none.
func pageIn(text string, pages []project.Page, target string) string {
	named, near := "", ""
	for _, found := range pageWords.FindAllStringSubmatch(text, -1) {
		if page, ok := project.Named(pages, found[1]); ok && page.Name != target {
			named = page.Name
		}
		for _, page := range pages {
			if near == "" && page.Name != target && project.IsNear(found[1], page.Name) {
				near = page.Name
			}
		}
	}
	if named == "" {
		return near
	}
	return named
}

// referenceIn is what the question calls the widget that it is about; isPage tells what is a page.
func referenceIn(text string, isPage func(name string) bool) string {
	for _, found := range quotedName.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(found[1]); !isPage(name) {
			return name
		}
	}
	if selectedWords.MatchString(text) {
		return Selected
	}
	for _, name := range madeName.FindAllString(targetWords.ReplaceAllString(text, " "), -1) {
		if !isPage(name) {
			return name
		}
	}
	for _, expression := range []*regexp.Regexp{kindWords, actedOn, aboutName} {
		for _, found := range expression.FindAllStringSubmatch(text, -1) {
			if name := trimFiller(found[1]); name != "" && !isPage(name) && (expression != aboutName || !isInformation(name)) {
				return name
			}
		}
	}
	return ""
}

// isInformation tells whether words are what is asked of a widget, and not its name.
func isInformation(words string) bool {
	return slices.ContainsFunc(informationWords, func(wanted informationWord) bool { return wanted.words.MatchString(words) })
}

// filler are words beside a widget's name.
var filler = []string{
	"the", "a", "an", "this", "that", "on", "in", "of", "it", "its", "and", "or", "for", "is", "does", "do", "default", "other", "same", "right",
	"left", "first", "last", "me", "my", "what", "about", "at", "to", "app", "page", "screen", "selected", "user", "users", "which", "when", "with", "home",
}

func trimFiller(text string) string {
	words := strings.Fields(text)
	for len(words) > 0 && slices.Contains(filler, strings.ToLower(words[0])) {
		words = words[1:]
	}
	for len(words) > 0 && slices.Contains(filler, strings.ToLower(words[len(words)-1])) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}

// asksOnlyFor tells whether the question wants one of these, and nothing else.
func (q QueryAnalysis) asksOnlyFor(these ...Information) bool {
	return !slices.ContainsFunc(q.InformationNeeded, func(one Information) bool {
		return !slices.Contains(these, one) && one != AboutStyles && one != AboutProperties && one != AboutBehaviour
	}) &&
		slices.ContainsFunc(q.InformationNeeded, func(one Information) bool { return slices.Contains(these, one) })
}

// asksFor tells whether the question wants this.
func (q QueryAnalysis) asksFor(one Information) bool {
	return slices.Contains(q.InformationNeeded, one)
}

// isAboutApp tells whether the question is about the app as a whole, not about a page.
func (q QueryAnalysis) isAboutApp() bool {
	return q.WidgetReference == "" && q.asksOnlyFor(AboutTheme, AboutRequests)
}

func (q QueryAnalysis) plan() []string {
	plan := []string{"look at what the app shows"}
	if q.WidgetReference != "" {
		plan = append(plan, "find the widget that is meant")
	}
	if !q.isAboutApp() {
		plan = append(plan, "read the page's files")
	}
	return append(plan, "map what the code says", "answer with file and line")
}

// analyzeWebQuery finds out what a question about a web page is about.
func (f *Flow) analyzeWebQuery(ctx context.Context, s State) []graph.Change[State] {
	query, page := analyze(s.Query, nil, s.Previous), s.WebPage
	if page.At == nil && query.WidgetReference == s.Previous.Widget {
		if at, _ := cutPoint(s.Previous.Widget); at != nil { // "element at 20,20"
			page.At = at
		}
	}
	if page.At != nil {
		query.WidgetReference = ""
	}
	return []graph.Change[State]{queryAnalysis.Set(query), webPage.Set(page), complete(ctx, StepQuery, flows.Completed)}
}

// inheritPage takes the web page of the thread from an earlier message of a person, where inherits
// says so, and gives the message without it. One that names only a project ends that.
func (f *Flow) inheritPage(s *State, turn flows.Turn, inherits bool) flows.Turn {
	if turn.Role != flows.User {
		return turn
	}
	page, rest := f.cutPage(turn.Text)
	turn.Text = rest
	if inherits && (page != "" || projectIn(turn) != "") {
		s.WebPage.Address = page
	}
	return turn
}

// needsPage tells whether the question can only be answered from a page's files.
func (s State) needsPage() bool { return !s.QueryAnalysis.isAboutApp() }
