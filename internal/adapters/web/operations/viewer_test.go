package operations_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/adapters/web/openidtest"
	"github.com/cairn-bot/cairn/internal/adapters/web/operations"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/runs"
	"github.com/cairn-bot/cairn/internal/session"
)

// fillPrivately saves runs of which somebody with this address and these groups may see one.
func fillPrivately(t *testing.T, p *place, own string) {
	t.Helper()
	p.save(explained(abstained("run-own", "What is the plan for "+own+"?")))
	p.save(explained(abstained("run-other", "What is the salary of Eve?")))
	p.save(explained(record("run-waiting", runs.Waiting, "Who dismissed Eve?")))
	onWeb := explained(record("run-web", runs.Running, "Is the Zeppelin project secret?"))
	onWeb.Thread = "web:ADDRESSOFTHECONVERSATION"
	p.save(onWeb)
	if err := p.stores.sessions.Save(t.Context(), session.Session{Thread: onWeb.Thread, Flow: "answer"}); err != nil {
		t.Fatal(err)
	}
	if err := p.stores.records.Rate(t.Context(), "run-other", chat.Rating{By: "U1", Verdict: chat.Down, Reason: "Eve earns more.", At: day}); err != nil {
		t.Fatal(err)
	}
}

// pagesOf are all screens that could show what is private.
var pagesOf = []string{
	"", "?text=run-other", "/runs.csv", "/run?id=run-other", "/run?id=run-web", "/run?id=run-waiting", "/questions", "/queue", "/agents", "/gaps", "/answers", "/threads",
	"/thread?id=slack:T1:C1:run-other", "/thread?id=slack:T1:C1:run-waiting", "/sources",
}

// private is what only some may see.
var private = []string{"salary", "dismissed", "Zeppelin", "Eve earns", "ADDRESSOFTHECONVERSATION", "secret-plan.pdf"}

func privateIngests(o *operations.Options) {
	o.Sources = configured("docs")
	o.Ingests = ingests{{Source: "docs", Began: day, Ended: day.Add(time.Second), Failed: 2, Failures: []index.IngestFailure{
		{Document: "secret-plan.pdf", Reason: "it is encrypted"}, {Document: "of-Ann@example.com.pdf", Reason: "it is empty"},
	}}}
}

func TestWhoSignsInSeesWhatIsForThem(t *testing.T) {
	p, i := openWithIssuer(t, privateIngests)
	i.Person = func(c *openidtest.Claims) { c.Groups = []string{"operators"} }
	if got := p.comesBack(p.toIssuer()); got.status != http.StatusOK {
		t.Fatalf("status %d: %s", got.status, bodyOf(got.body))
	}
	fillPrivately(t, p, "group:oidc:operators Ann@example.com")
	for _, path := range pagesOf {
		p.lacks(p.sees("/operations"+path), private...)
	}
	p.contains(p.sees("/operations"), "What is the plan for", "asked in private", "run-other", "no answer found")
	p.contains(p.sees("/operations/run?id=run-own"), "What is the plan for", "Leave policy")
	p.lacks(p.sees("/operations/run?id=run-other"), "Leave policy")
	p.contains(p.sees("/operations/gaps"), "What is the plan for", "1 of the runs are left out")
	p.contains(p.sees("/operations/sources"), "of-Ann@example.com.pdf", "1 more are not listed")
	p.lacks(p.sees("/operations?text=ADDRESSOF"), "run-web")
	p.lacks(p.sees("/operations?text=salary"), "run-other") // it can't be found out by guessing
	p.contains(p.sees("/operations/runs.csv"), "asked in private", "What is the plan for")
	if got := p.get("/operations/thread?id=web:ADDRESSOFTHECONVERSATION"); got.status != http.StatusForbidden {
		t.Errorf("a conversation on the web page: status %d", got.status)
	}
	stream := p.events("/operations")
	if got := stream(); strings.Contains(got, "salary") || !strings.Contains(got, "run-other") {
		t.Errorf("the live list shows %s", got)
	}
	// What may not be seen may still be stopped: whoever opens the page runs Cairn.
	if got := p.post("/operations/cancel", url.Values{"run": {"run-web"}}); got.status != http.StatusSeeOther {
		t.Errorf("cancel: status %d", got.status)
	}
}

func TestWhoRunsCairnSeesEverything(t *testing.T) {
	for name, enter := range map[string]func(t *testing.T) *place{
		"at the machine": func(t *testing.T) *place { return open(t, embeddedStores(t), privateIngests) },
		"with the token": func(t *testing.T) *place {
			p := open(t, embeddedStores(t), func(o *operations.Options) { withToken(o); privateIngests(o) })
			p.signIn(token)
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := enter(t)
			fillPrivately(t, p, "Ann")
			all := ""
			for _, path := range pagesOf {
				all += p.sees("/operations" + path)
			}
			p.contains(all, private...)
		})
	}
}
