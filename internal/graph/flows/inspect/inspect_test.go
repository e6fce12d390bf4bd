package inspect_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/graph"
	"github.com/cairn-bot/cairn/internal/graph/flows"
	"github.com/cairn-bot/cairn/internal/graph/flows/inspect"
	"github.com/cairn-bot/cairn/internal/graph/graphtest"
	"github.com/cairn-bot/cairn/internal/inspect/inspecttest"
	"github.com/cairn-bot/cairn/internal/inspect/session"
	"github.com/cairn-bot/cairn/internal/repository"
)

func newFlow(t testing.TB, root string) *inspect.Flow {
	t.Helper()
	flow, err := inspect.New(inspect.Options{
		Open: repository.NewOpener(repository.Options{Roots: []string{root}}).Open, Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return flow
}

// recorded is the shop with its page Main open, as it comes with a message.
func recorded(t testing.TB, selected string) []flows.Attachment {
	t.Helper()
	read, err := session.Read(inspecttest.Session(t, selected))
	if err != nil {
		t.Fatal(err)
	}
	text, err := read.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return []flows.Attachment{{Name: "shop" + session.Ending, Text: text}}
}

// ask runs a request; replies answer what is asked, by a choice's label or as text.
func ask(t testing.TB, flow *inspect.Flow, request flows.Request, replies ...string) flows.Outcome {
	t.Helper()
	request.Run = "run"
	runtime := flows.Runtime{Store: graphtest.NewMemory()}
	outcome, err := flow.Start(t.Context(), request, runtime)
	for _, reply := range replies {
		if err != nil || outcome.Kind != flows.Asked {
			t.Fatalf("%s is not asked for: %v, %s", reply, err, outcome.Text)
		}
		answer := graph.Answer{QuestionID: outcome.Question.ID, Text: reply}
		if slices.ContainsFunc(outcome.Question.Choices, func(c graph.Choice) bool { return c.ID == reply }) {
			answer.Choice, answer.Text = reply, ""
		}
		outcome, err = flow.Resume(t.Context(), "run", []graph.Answer{answer}, runtime)
	}
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func TestWhatHappensIsFollowedToRequestsAndPages(t *testing.T) {
	flow := newFlow(t, inspecttest.Write(t, 0))
	outcome := ask(t, flow, flows.Request{Text: "./shop What happens when I press Save order on Main?"})
	const want = "`button1` on page `Main` of `shop`:\n" + `
**Where it is**

- It is a ` + "`WmButton` with the caption `Save order` in `page_content1` in `mainpage`. (`src/pages/Main/Main.component.js:46`)" + `

**What happens**

- On ` + "`onTap` it calls `fragment.button1Tap`. (`src/pages/Main/Main.component.js:49`)" + `
  - It calls the function ` + "`button1Tap`. (`src/pages/Main/Main.script.js:21`)" + `
    - It sends the request ` + "`/api/orders`. (`src/pages/Main/Main.script.js:22`)" + `
    - It sends the request ` + "`createOrder of shop (OpenAPIService)` by `saveOrder`. (`src/pages/Main/Main.variables.js:17`)" + `
      - It goes to the page ` + "`Checkout` by the action `goToPage_Checkout`, later. (`src/pages/Main/Main.variables.js:30`)" + `
    - It calls the function ` + "`confirmSaved`. (`src/pages/Main/Main.script.js:11`)" + `
      - It sets ` + "`caption = Saved` of the widget `label3`, under a condition. (`src/pages/Main/Main.script.js:13`)" + `
      - It shows a message: ` + "`Something happened`, under a condition, later. (`src/app.variables.js:5`)" + `
`
	if outcome.Kind != flows.Answered || outcome.Text != want {
		t.Errorf("%s:\n%s\nwant\n%s", outcome.Kind, outcome.Text, want)
	}
	if !strings.Contains(outcome.Note, "no language model was used") {
		t.Errorf("note %q", outcome.Note)
	}
	for _, note := range []string{
		"step query-analysis: completed", "step current-page-state: skipped", "step retrieve-page-files: completed", "step analyze-page-files: completed",
		"step synthesize-answer: completed", "find_files(*.component.{js,jsx,ts,tsx}): 3 pages",
	} {
		if !slices.Contains(outcome.Trace.Notes, note) {
			t.Errorf("%q is not in %q", note, outcome.Trace.Notes)
		}
	}
	var nodes []string
	for _, step := range outcome.Trace.Steps {
		nodes = append(nodes, step.Node)
	}
	slices.Sort(nodes)
	const all = "answer_synthesis current_page_state current_page_state/assemble_state current_page_state/find_tabbar current_page_state/get_element_tree " +
		"current_page_state/get_widget_properties_styles current_page_state/identify_target_widget file_operations page_agent page_agent/build_understanding " +
		"page_agent/locate_widgets page_agent/map_event_handlers page_agent/map_file_relationships page_agent/map_properties page_agent/map_styles " +
		"page_agent/parse_files query_analyzer"
	if got := strings.Join(nodes, " "); got != all {
		t.Errorf("nodes %s", got)
	}
}

func TestTheSelectedWidgetOfASession(t *testing.T) {
	flow := newFlow(t, inspecttest.Write(t, 0))
	outcome := ask(t, flow, flows.Request{Text: "./shop Why is the selected widget grey?", Attachments: recorded(t, "button2")})
	for _, want := range []string{
		"`button2` on page `Main`",
		"In the app `backgroundColor` of its `root` is `#888888`, by the rule `inline` (`inline`).",
		"`backgroundColor` of its `root` is `#888888`, by its own styles, which wins over `#4263eb` of `btn-primary` (`Main.style.js:4`). (`src/pages/Main/Main.component.js:64`)",
	} {
		if !strings.Contains(outcome.Text, want) {
			t.Errorf("%q is not in\n%s", want, outcome.Text)
		}
	}
	if strings.Contains(outcome.Text, "s3cret") || !strings.Contains(outcome.Note, "told by the app's timeline") {
		t.Errorf("%s\n%s", outcome.Text, outcome.Note)
	}
	outcome = ask(t, flow, flows.Request{Text: "./shop what happens when I tap the selected widget?", Attachments: recorded(t, "")}, "button2")
	if !strings.Contains(outcome.Text, "goes to the page `Checkout` by the action `goToPage_Checkout`. (`src/pages/Main/Main.variables.js:30`)") || strings.Contains(outcome.Text, "onLongtap") {
		t.Errorf("%s", outcome.Text)
	}
	outcome = ask(t, flow, flows.Request{Text: "./shop why is my API call failing?", Attachments: recorded(t, "")})
	if !strings.Contains(outcome.Text, "The request `POST orders` to `/api/orders` failed with status `500`.") || !strings.Contains(outcome.Text, "logged the error `orders: no answer`") {
		t.Errorf("%s", outcome.Text)
	}
}

func TestQuestionsOfUsers(t *testing.T) {
	flow := newFlow(t, inspecttest.Write(t, 0))
	for question, wants := range map[string][]string{
		"What is the default button color in the theme?":                                      {"`backgroundColor` of `btn-default.root` is `#eeeeee`", "(`theme/native-mobile/android/style.js:13`)"},
		"How many users are currently displayed in the list on Main?":                         {"`list1` on page `Main`", "`dataset` is computed: `watch(fragment.Variables.users.dataSet)`. (`src/pages/Main/Main.component.js:41`)"},
		"How can I navigate to Checkout page and pass data on tap of `button1` on page Main?": {"The action `goToPage_Checkout` goes to the page `Checkout`", "`Page.Actions.goToPage_Checkout.invoke({data: {…}})`", "(`src/pages/Main/Main.variables.js:30`)"},
		"How can I navigate to t1 page and pass data on tap of `button1` on page Main?":       {"`button1` on page `Main`", "The project has no page `t1`"},
		"what happens when I tap Next on Mian?":                                               {"`button2` on page `Main`", "goes to the page `Checkout`"},
		"How can I navigate to t1 page on tap of button1 on Main?":                            {"`button1` on page `Main`", "The project has no page `t1`"},
		"Why is my API call failing?":                                                         {"Which request fails only the running app tells"},
		"what does the log out link do on Main?":                                              {"`anchor1` on page `Main`", "runs the action `logoutAction` (`LogoutAction`)", "src/partials/leftnav/leftnav.component.js:9"},
		"where is label1 on Main?":                                                            {"repeated for each item of a list", "`listtemplate1` in `list1`", "src/pages/Main/Main.component.js:26"},
		"what are the properties of buton2 on Main?":                                          {"`button2` on page", "`caption` is `Next`. (`src/pages/Main/Main.component.js:55`)"},
		"does label3 have a caption on Main that a script sets?":                              {"`caption` is set to `Saved` by the script. (`src/pages/Main/Main.script.js:13`)"},
		"what happens when I tap Pay now on Checkout?":                                        {"which the files that I read don't define"},
	} {
		outcome := ask(t, flow, flows.Request{Text: "./shop " + question})
		for _, want := range wants {
			if outcome.Kind != flows.Answered || !strings.Contains(outcome.Text, want) {
				t.Errorf("%s: %q is not in %s\n%s", question, want, outcome.Kind, outcome.Text)
			}
		}
	}
	broken := ask(t, flow, flows.Request{Text: "./shop what happens when I tap Pay now on Checkout?"})
	if !strings.Contains(broken.Note, "src/pages/Checkout/Checkout.script.js:3: Unexpected \";\"") {
		t.Errorf("the mistake is not told: %s", broken.Note)
	}
}

func TestThePageIsAskedForThreeTimesAtMost(t *testing.T) {
	flow := newFlow(t, inspecttest.Write(t, 0))
	question := flows.Request{Text: "./shop what does button1 do?"}
	first := ask(t, flow, question)
	if first.Kind != flows.Asked || first.Text != "Which page is open?" || len(first.Question.Choices) != 2 || !first.Question.FreeText {
		t.Fatalf("%s: %s %+v", first.Kind, first.Text, first.Question)
	}
	again := ask(t, flow, question, "Chekout2")
	if again.Kind != flows.Asked || again.Question.Choices[0].ID != "Checkout" || !strings.Contains(again.Text, "There is no page `Chekout2`") {
		t.Fatalf("%s: %s %+v", again.Kind, again.Text, again.Question)
	}
	if found := ask(t, flow, question, "no idea", "it's the main page"); found.Kind != flows.Answered || !strings.Contains(found.Text, "on page `Main`") {
		t.Errorf("%s: %s", found.Kind, found.Text)
	}
	ended := ask(t, flow, question, "a", "b", "c")
	if ended.Kind != flows.Abstained || !strings.Contains(ended.Text, "I asked 3 times") || !strings.Contains(ended.Text, "`Checkout`, `Main`") {
		t.Errorf("%s: %s", ended.Kind, ended.Text)
	}
}

func TestAnUnknownWidgetIsAskedForWithTheNearest(t *testing.T) {
	flow := newFlow(t, inspecttest.Write(t, 0))
	question := flows.Request{Text: "./shop what does button9 do on Main?"}
	first := ask(t, flow, question)
	if first.Kind != flows.Asked || len(first.Question.Choices) == 0 || !strings.Contains(first.Text, "I found no widget `button9` on page `Main`") {
		t.Fatalf("%s: %s %+v", first.Kind, first.Text, first.Question)
	}
	if found := ask(t, flow, question, "the", "button1"); !strings.Contains(found.Text, "`button1` on page `Main`") {
		t.Errorf("%s: %s", found.Kind, found.Text)
	}
	if ended := ask(t, flow, question, "x1", "x2", "x3"); ended.Kind != flows.Abstained || !strings.Contains(ended.Text, "found no widget of that name") {
		t.Errorf("%s: %s", ended.Kind, ended.Text)
	}
}

func TestFollowUpsKeepProjectAndWidget(t *testing.T) {
	flow := newFlow(t, inspecttest.Write(t, 0))
	history := []flows.Turn{{Role: flows.User, Text: "inspect: ./shop what does button2 do on Main?"}}
	history = append(history, flows.Turn{Role: flows.Assistant, Text: ask(t, flow, flows.Request{Text: "./shop what does button2 do on Main?"}).Text})
	styles := ask(t, flow, flows.Request{Text: "and its styles?", History: history})
	if !strings.Contains(styles.Text, "`button2` on page `Main`") || !strings.Contains(styles.Text, "**How it looks**") {
		t.Errorf("%s", styles.Text)
	}
	other := ask(t, flow, flows.Request{Text: "what about button1?", History: history})
	if !strings.Contains(other.Text, "`button1` on page `Main`") {
		t.Errorf("%s", other.Text)
	}
}

func TestRefusals(t *testing.T) {
	root := inspecttest.Write(t, 0)
	if err := os.Mkdir(filepath.Join(root, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	flow := newFlow(t, root)
	for text, want := range map[string]string{
		"what does button1 do?":                     "I don't know which app you mean",
		"./nothere what does button1 do?":           "There is no folder",
		"../../etc what does button1 do?":           "I may not read",
		"./empty what does button1 do?":             "I found no page in `empty`",
		"https://127.0.0.1/a/b what does x do?":     "No repository may be fetched here",
		"./shop tell me more, on page Main, please": "I don't know which widget you mean. Page `Main` has",
	} {
		if outcome := ask(t, flow, flows.Request{Text: text}); outcome.Kind != flows.Abstained || !strings.Contains(outcome.Text, want) {
			t.Errorf("%s: %s: %s", text, outcome.Kind, outcome.Text)
		}
	}
}

func TestHostileCodeAndCaptionsAreData(t *testing.T) {
	root := inspecttest.Write(t, 0)
	page := filepath.Join(root, "shop", "src", "pages", "Evil")
	if err := os.MkdirAll(page, 0o700); err != nil {
		t.Fatal(err)
	}
	component := "export const E = () => <WmButton name=\"button7\" caption={`[click](https://evil.example) <!channel> @everyone ${'`'}` + 1} title=\"`[x](https://evil.example) @everyone <script>\" onTap={() => { fragment.Actions['`](https://evil.example)'].invoke(); process.exit(1); }}/>;\n"
	if err := os.WriteFile(filepath.Join(page, "Evil.component.js"), []byte(component), 0o600); err != nil {
		t.Fatal(err)
	}
	outcome := ask(t, newFlow(t, root), flows.Request{Text: "./shop tell me what button7 on Evil does, its properties and styles"})
	for _, line := range strings.Split(outcome.Text, "\n") {
		if outside := outsideCode(line); strings.Contains(outside, "evil.example") || strings.Contains(outside, "@everyone") || strings.Contains(outside, "<") {
			t.Errorf("not as code: %s", line)
		}
	}
	if outcome.Kind != flows.Answered {
		t.Errorf("%s: %s", outcome.Kind, outcome.Text)
	}
}

// outsideCode is a line without what stands in code marks.
func outsideCode(line string) string {
	var out strings.Builder
	for i, part := range strings.Split(line, "`") {
		if i%2 == 0 {
			out.WriteString(part)
		}
	}
	return out.String()
}

// TestACrashAtEverySavePoint kills the process at every checkpoint of runs that ask for page and
// widget, that read a session, and that give up.
func TestACrashAtEverySavePoint(t *testing.T) {
	flow := newFlow(t, inspecttest.Write(t, 0))
	for name, test := range map[string]struct {
		request flows.Request
		replies []string
		check   func(inspect.State) bool
	}{
		"asked for both": {flows.Request{Text: "./shop what does button9 do?"}, []string{"nope", "Main", "button1"}, func(s inspect.State) bool {
			return strings.Contains(s.FinalAnswer, "`button1` on page `Main`") && s.Rounds == 1 && s.PageFiles == nil
		}},
		"session": {flows.Request{Text: "./shop why is the selected widget grey?", Attachments: recorded(t, "button2")}, nil, func(s inspect.State) bool {
			return s.CurrentPageState.SelectedWidget.WidgetName == "button2" && strings.Contains(s.FinalAnswer, "#888888")
		}},
		"given up": {flows.Request{Text: "./shop what does button1 do?"}, []string{"x", "y", "z"}, func(s inspect.State) bool { return s.Failure != "" && s.FinalAnswer == "" }},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(map[string]string)
			request := test.request
			request.Run = "run"
			outcome, _ := graphtest.Crashes(t, graphtest.Scenario[inspect.State]{
				Graph: flow.Graph, Initial: flow.Initial(request),
				Answer: func(q graph.Question) graph.Answer {
					reply, known := asked[q.ID]
					if !known {
						reply = test.replies[len(asked)]
						asked[q.ID] = reply
					}
					return graph.Answer{Text: reply}
				},
			})
			if outcome.Status != graph.Done || !test.check(outcome.State) {
				t.Errorf("%s: %s %+v", outcome.Status, outcome.State.FinalAnswer, outcome.State.Errors)
			}
		})
	}
}

// BenchmarkSeventyPages answers a question on a project of 70 pages with a session at hand.
func BenchmarkSeventyPages(b *testing.B) {
	root := inspecttest.Write(b, 68)
	request := flows.Request{Text: "./shop why is the selected widget grey?", Attachments: recorded(b, "button2")}
	for b.Loop() {
		if outcome := ask(b, newFlow(b, root), request); outcome.Kind != flows.Answered {
			b.Fatal(outcome.Text)
		}
	}
}
