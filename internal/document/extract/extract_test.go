package extract_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/document"
	"github.com/cairn-bot/cairn/internal/document/evidence"
	"github.com/cairn-bot/cairn/internal/document/extract"
	"github.com/cairn-bot/cairn/internal/graph/flows"
)

func read(t testing.TB, texts ...string) document.Set {
	t.Helper()
	var files []flows.Attachment
	for _, text := range texts {
		files = append(files, flows.Attachment{Name: "a.md", Text: text})
	}
	set, err := document.NewReader(document.Options{}).Read(t.Context(), document.Read{Attachments: files})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func texts(statements []evidence.Statement) string {
	var all []string
	for _, s := range statements {
		all = append(all, s.Text)
	}
	return strings.Join(all, " | ")
}

func TestFind(t *testing.T) {
	for kind, test := range map[extract.Kind]struct{ yes, no []string }{
		extract.Dates: {
			[]string{"Done by 2026-03-12.", "On 3rd of May it starts.", "In Q3 2026 we move.", "The deadline is near.", "Deadline: Friday.", "Since March 2024.", "On 12.03.2026 we met."},
			[]string{"You may go.", "Version 1.2.3 is out.", "The march goes on.", "It fails with context deadline exceeded."},
		},
		extract.People: {
			[]string{"Owner: Maria Lopez.", "Written by Tom van Becker in haste.", "Ana Silva (finance) agreed.", "Ana Silva owns it.", "Owner of the release calendar: Maria Lopez.", "Mail ana@example.org first."},
			[]string{"The Payment Card Industry Data Security Standard (PCI DSS) applies.", "Owner: unknown.", "Use the New York region.", "The Application Controller is responsible for it.", "Argo CD will do it.", "Kind (v1.2) Or Minikube (v2).", "Avoid the Resource Owner Password Credentials.", "It pulls ghcr.io/dex@v2.45.1 now."},
		},
		extract.Numbers: {
			[]string{"It costs $500.", "Wait 30 seconds.", "A rate of 3.5 %.", "2 replicas run.", "The archive has 80,000 photographs.", "The bridge carries 3.5 t.", "A dozen volunteers came.", "Two thirds of the tickets are closed.", "It allows 5 per request.", "Each team may keep up to six environments.", "Nine in ten syncs succeed.", "One sync needs it every 90 s.", "It takes at least eighty steps."},
			[]string{"See chapter 3.", "Version 2.", "Port 8080 is open.", "The K8s cluster.", "Step 4 explains columns.", "Python 3 supports threads.", "RFC 7231 describes methods."},
		},
		extract.Risks: {
			[]string{
				"There is a risk of loss.", "It is a single point of failure.", "There is no backup.", "A failed import can lead to lost orders.", "Changing it may break the clients.",
				"The ledger has no fallback: an outage of its database stops all payments.", "Drain it first, otherwise jobs fail.", "If the server runs out of disk, every import in the cluster stops.", "Losing the key means that no release can be verified any more.",
				"Deleted keys cannot be restored.", "There is no second supplier for the valves.", "Nothing stops a trainee from approving their own order.", "Nobody has restored a backup since 2023.", "Nothing warns us when a window closes.", "We have neither a rota nor a runbook.", "Two workers fight over the same queue.",
				"The survey hinges on a spreadsheet that only Dana understands.", "All branches share one gateway in Leeds.", "Only two engineers know the procedure.", "Session tokens are written to the log in clear text.",
				"The account can delete any bucket.", "At this rate the volume will be full by October.", "The license of the scanner expires on 31 May.", "This release is no longer patched.", "The move may slip.", "The rack is blocked by customs.",
				"If the lease isn't renewed in time, two workers write to the same ledger.", "Jobs are discarded when the queue is paused.", "Should the sensor lose power, nobody is told.", "The exporter silently drops long rows.",
			},
			[]string{
				"It runs well.", "The brisk walk.", "Warning: hot.", "You must not do it.", "Do not use spaces.", "The flag is deprecated.", "What are the risks?", "There are no known risks.",
				"This does not lead to outages.", "The controller will not overwrite your change.", "There is no data loss involved.", "What are the risks of this proposal and how do we mitigate.", "Mitigation: an outage of one node is covered.",
				"No data is lost when the node is restarted.", "If a request fails, it is retried up to five times.", "There is no need to check for changes.", "Anyone with an account can make a dashboard.", "A single command installs the agent.",
				"Nobody needs to sign in twice.", "If the field is empty, the default is used.", "The certificate is renewed before it expires.", "All branches use the same price list.",
			},
		},
		extract.Decisions: {
			[]string{
				"We decided to keep them in Frankfurt.", "The team chose PostgreSQL.", "It was agreed that logs go after a week.", "Decision: no retries.", "Kafka was rejected in May.",
				"We use one queue instead of three.", "Redis was picked over Kafka.", "The committee ruled out a rewrite.",
				"Management turned down the request for a van.", "The group voted to drop fax.", "The plan to outsource support has been abandoned.", "From now on only annotated tags are deployed.", "We'll keep monthly releases instead of going weekly.", "Pruning stays off, as agreed with operations.",
			},
			[]string{
				"Use spaces instead of tabs.", "It runs rather than walks.", "Nothing was decided.", "Who decided to do it?", "It needs a decision.", "It is to be decided.", "The trade-off is known.",
				"The request is rejected by the gateway's filter rules, not always.",
			},
		},
		extract.Questions: {
			[]string{"TODO: name it.", "It is unclear who pays.", "Who pays?", "To be decided."},
			[]string{"All is said.", "The todolist app.", "It is not specified.", "Why?"},
		},
	} {
		for _, s := range test.yes {
			if found, _ := extract.Read(read(t, "# Things\n\n"+s)).Find(kind, extract.Focus{Limit: 9}); len(found) != 1 || found[0].Text != s {
				t.Errorf("%s: %q is not found: %+v", kind, s, found)
			}
		}
		for _, s := range test.no {
			if found, _ := extract.Read(read(t, "# Things\n\n"+s)).Find(kind, extract.Focus{Limit: 9}); len(found) != 0 {
				t.Errorf("%s: %q is found", kind, s)
			}
		}
	}
}

// TestConsequencesComeFirst has sentences that only stand under a heading about risks, and one about
// a consequence behind them.
func TestConsequencesComeFirst(t *testing.T) {
	corpus := extract.Read(read(t, "# Known issues\n\nThe menu is grey. The list is long.\n\n# Storage\n\nThe ledger has no backup."))
	if found, more := corpus.Find(extract.Risks, extract.Focus{Limit: 1}); texts(found) != "The ledger has no backup." || more != 2 {
		t.Errorf("%q and %d more", texts(found), more)
	}
}

func TestContradictions(t *testing.T) {
	for text, want := range map[string]int{
		"# A\n\nA customer can ask for a refund within 30 days.\n\n# B\n\nA customer can ask for a refund within 14 days.":         1,
		"# A\n\nA customer can ask for a refund within 30 days.\n\n# B\n\nA customer can ask for a refund within 30 days.":         0,
		"# A\n\nThe gateway retries failed charges of customers.\n\n# B\n\nThe gateway never retries failed charges of customers.": 1,
		"# A\n\nArgo 2.4 upgraded the base image of the server.\n\n# B\n\nArgo 2.5 upgraded the base image of the server.":         0,
		"# A\n\nThe yearly budget of the project is $400.\n\n# B\n\nThe yearly budget of the project is $500.":                     1,
		"# A\n\nWithin 30 days refunds are paid. Within 14 days chargebacks follow.":                                               0,
		"# A\n\nBackups are kept for 30 days in the vault.\n\n# B\n\nLogs stay on the server for 14 days.":                         0,
		"# A\n\nRefunds take the bank 3 to 5 days.\n\n# B\n\nRefunds take the bank 3 to 5 days at most.":                           0,
	} {
		if found, _ := extract.Read(read(t, text)).Find(extract.Contradictions, extract.Focus{Limit: 9}); len(found) != want {
			t.Errorf("%q: %q", text, texts(found))
		}
	}
}

// TestClaimsAreCompared has pairs of statements in two documents: of the same thing with
// another value, and such that only look so.
func TestClaimsAreCompared(t *testing.T) {
	for name, test := range map[string]struct {
		one, two string
		want     int
	}{
		"a number in other units":      {"A job is kept in the queue for 90 seconds by default.", "By default a job is kept in the queue for 2m.", 1},
		"the same in other units":      {"A job is kept in the queue for 120 seconds by default.", "By default a job is kept in the queue for 2m.", 0},
		"a version":                    {"Since version 2.8 the importer supports nested archives.", "The importer supports nested archives as of 2.6.", 1},
		"a version less precise":       {"Since version 2.8 the importer supports nested archives.", "The importer supports nested archives as of 2.8.1.", 0},
		"versions that say which":      {"Importer 2.8 fixed the upload of nested archives.", "Importer 2.6 fixed the upload of nested archives.", 0},
		"a mark on something":          {"Beta feature (since 2.7)", "Beta feature (since 3.1)", 0},
		"a default in code":            {"The importer draws uploaded archives in the `tree` layout by default.", "By default, the importer draws uploaded archives in the `flat` layout.", 1},
		"defaults of two things":       {"`importer` logs each upload of an archive by default.", "`exporter` logs each upload of an archive by default.", 0},
		"a default in words":           {"Old uploads get pruned by the nightly worker by default.", "By default, old uploads get pruned by the hourly worker.", 1},
		"a default that is true":       {"- `archived`: include archived uploads. Defaults to false", "- `archived`: include archived uploads. Defaults to true.", 1},
		"enabled and disabled":         {"For security reasons, the profiling endpoint is disabled by default.", "The profiling endpoint is enabled by default.", 1},
		"does and does not":            {"The importer does not log the addresses of clients, since a proxy is in front of it.", "The importer logs the addresses of clients.", 1},
		"supported and not":            {"Signatures are not supported for nested archives.", "Signatures are supported for nested archives.", 1},
		"only under a condition":       {"When the proxy is disabled, the importer logs the addresses of clients.", "The importer does not log the addresses of clients.", 0},
		"a contrast, no denial":        {"Upload only the archive, not the folder around it.", "Upload only the archive.", 0},
		"a port":                       {"The importer serves its metrics on port 9001.", "The importer serves its metrics on port 9090.", 1},
		"a number of things":           {"The importer supports two nested archives in an upload.", "The importer supports three nested archives in an upload.", 1},
		"examples":                     {"For example, wait 30 seconds for the importer to start.", "For example, wait 60 seconds for the importer to start.", 0},
		"a subject that is not said":   {"It is enabled by default in the importer.", "It is disabled by default in the importer.", 0},
		"a subject behind it":          {"It is not possible to upload a nested archive when the importer is busy.", "It is possible to upload a nested archive when the importer is busy.", 1},
		"a setting's default":          {"Tune the importer by `--upload-workers` (20 by default) and `--index-workers` (10 by default).", "The importer works with 50 `--upload-workers` by default.", 1},
		"a setting's default behind":   {"The width of the importer's queue is set by the `--upload-workers` flag (20 by default).", "The queue of the importer has `--upload-workers`, which defaults to 12.", 1},
		"a setting's same default":     {"Tune the importer by `--upload-workers` (20 by default) and `--index-workers` (10 by default).", "The importer works with 20 `--upload-workers` by default.", 0},
		"a setting of another thing":   {"The exporter works with 20 `--workers` by default.", "A crawler takes 50 `--workers` by default.", 0},
		"works no more":                {"Archives installed via the old folder will not work starting with v2.8.", "Archives installed via the old folder stop working starting with v2.10.", 1},
		"deprecated and gone":          {"Starting with v2.5, installing archives via the old folder is deprecated.", "Archives installed via the old folder stop working starting with v2.8.", 0},
		"a thing named before":         {"An upload begins with a token. This token is issued by the importer itself, and it expires after 24 hours.", "The token that the importer issues expires after 12 hours.", 1},
		"things named before":          {"This command waits 30 seconds for the importer to start.", "This command waits 60 seconds for the importer to start.", 0},
		"where nothing is set":         {"Note that if no layout is specified, the importer will automatically assume the `tree` layout.", "If no layout is specified, the importer assumes the `flat` layout.", 1},
		"a place":                      {"The secret is automatically mounted at `/app/importer/tls` in every importer.", "The secret is mounted at `/etc/importer/tls` in every importer.", 1},
		"places of two things":         {"The secret is automatically mounted at `/app/importer/tls` in every importer.", "The cache is mounted at `/var/importer/cache` in every proxy.", 0},
		"another order":                {"The importer waits for all nested archives to be read before the upload is closed.", "The upload is closed before all nested archives are read.", 1},
		"the same order":               {"The importer waits for all nested archives to be read before the upload is closed.", "The upload is closed after all nested archives are read.", 0},
		"in emphasis, in other words":  {"After a failed upload, the importer waits about **2 minutes** before automatically retrying.", "After a failed upload, the importer retries by itself after about 10 minutes.", 1},
		"how often":                    {"Nested archives can only be uploaded once.", "Nested archives can be uploaded twice.", 1},
		"another apostrophe":           {"If the importer’s folder changes, the old archives are not removed.", "If the importer's folder changes, the old archives are removed.", 1},
		"things of other names":        {"PreUpload hooks run before the archives are read by the importer.", "PostUpload hooks run after the archives are read by the importer.", 0},
		"defaults that are named":      {"The default `archive.exclusions` can be removed from the importer's folder.", "The default `archive.customizations` can be removed from the importer's folder.", 0},
		"a row of a table":             {"By default, the importer updates its list of archives every 10 seconds.", "| What | Interval |\n|---|---|\n| Update of the list of archives by the importer | 60 seconds |", 1},
		"a setting in words":           {"The width of the queue is set by `--upload-workers` (20 by default) and `--index-workers` (10 by default).", "The queue runs with 50 upload workers.", 1},
		"another setting in words":     {"The width of the queue is set by `--upload-workers` (20 by default) and `--index-workers` (10 by default).", "The queue runs with 10 index workers.", 0},
		"off until":                    {"Parallel upload of archives is enabled by default.", "Parallel upload of archives is off until you enable it.", 1},
		"another word denied":          {"Old archives are uploaded by the importer.", "Old archives are not deleted by the importer.", 0},
		"a state that is no predicate": {"An upload was sent to the importer without the required `X-Archive` header.", "The `X-Archive` header is not required in uploads to the importer.", 0},
		"lines of a list of changes":   {"- Update the importer to 3 workers (#12)", "- Update the importer to 5 workers (#34)", 0},
		"parts without a subject":      {"- Can have nested archives, folders and links", "- Must not have nested archives, folders or links", 0},
		"rows of tables":               {"| importer | waits 30 seconds for uploads |\n|---|---|\n| importer | waits 30 seconds for uploads |", "| importer | waits 60 seconds for uploads |\n|---|---|\n| importer | waits 60 seconds for uploads |", 0},
	} {
		// A third document has the words of both, so that none is rare for being in two.
		set := read(t, "# Importer\n\n"+test.one, "# Notes\n\n"+test.two, "# Other\n\nNothing is said here of what the others say.")
		if found, _ := extract.Read(set).Find(extract.Contradictions, extract.Focus{Limit: 9}); len(found) != test.want {
			t.Errorf("%s: %q", name, texts(found))
		} else if len(found) == 1 && (len(found[0].Places) != 2 || found[0].Places[0].Document == found[0].Places[1].Document) {
			t.Errorf("%s: places %+v", name, found[0].Places)
		}
	}
}

// TestVersionedPages has the same note in the pages of two versions.
func TestVersionedPages(t *testing.T) {
	set := read(t, "# Upgrade from 2.4 to 2.5\n\nStarting with 2.5.16, the importer returns an error for nested archives.", "# Upgrade from 2.5 to 2.6\n\nStarting with 2.6.7, the importer returns an error for nested archives.")
	if found, _ := extract.Read(set).Find(extract.Contradictions, extract.Focus{Limit: 9}); len(found) != 0 {
		t.Errorf("%q", texts(found))
	}
}

func TestAboutPutsRareWordsFirst(t *testing.T) {
	corpus := extract.Read(read(t, "# A\n\nThe service runs. The service stops. The service pays refunds. Refunds are slow. Nothing else."))
	if got := texts(corpus.About(extract.Focus{Words: "refunds of the service", Limit: 2})); got != "The service pays refunds. | Refunds are slow." {
		t.Errorf("%s", got)
	}
	if got := corpus.Unknown("refunds and bananas, please"); len(got) == 0 || got[0] != "bananas" {
		t.Errorf("unknown: %v", got)
	}
}

// TestTermsAreExplained has explanations outside of a glossary, and remarks that look so.
func TestTermsAreExplained(t *testing.T) {
	for text, want := range map[string]bool{
		"**Golden path**: the set of templates that new services begin with.": true, "Shadow cluster: a copy of production.": true,
		"**Note**: the set of templates is new.": false, "Warning: a copy of production is lost.": false, "He said this: the whole thing is about to fail.": false,
	} {
		found, _ := extract.Read(read(t, "# Things\n\n"+text)).Find(extract.Terms, extract.Focus{Limit: 9})
		if (len(found) > 0) != want {
			t.Errorf("%q: %q", text, texts(found))
		}
	}
}

func TestCodeAndHeadersOfTablesAreNoSentences(t *testing.T) {
	set := read(t, "# A\n\n```\nrisk of code\n```\n\n| risk | owner |\n|---|---|\n| outage | Ana Silva (finance) |\n\n- [ ] open item\n- [x] done item\n")
	corpus := extract.Read(set)
	if found, _ := corpus.Find(extract.Risks, extract.Focus{Limit: 9}); texts(found) != "outage · Ana Silva (finance)" {
		t.Errorf("%q", texts(found))
	}
	if found, _ := corpus.Find(extract.Questions, extract.Focus{Limit: 9}); texts(found) != "open item" {
		t.Errorf("%q", texts(found))
	}
}

// FuzzRead checks that every statement is of one line, bounded, and has a place that
// exists.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"# A\n\nRisk 30 days. No risk 14 days.", "| a | b |\n|---|---|\n| 1 % | Ana B (x) |", "- [ ] x?\n\n**LF** (Long Form)", "\xff# \x00", "Payment Card (PC) and PC (Payment Card)"} {
		f.Add(seed)
	}
	kinds := []extract.Kind{
		extract.Outline, extract.Terms, extract.Dates, extract.People, extract.Numbers, extract.Risks, extract.Questions, extract.Contradictions,
		extract.Purpose, extract.Parts, extract.Flows, extract.Interfaces, extract.Decisions,
	}
	f.Fuzz(func(t *testing.T, text string) {
		files := []flows.Attachment{{Name: "a.md", Text: text}, {Name: "b.md", Text: "# B\n\nMore text.\n\n" + text}}
		set, err := document.NewReader(document.Options{}).Read(t.Context(), document.Read{Attachments: files})
		if _, ok := errors.AsType[*document.RefusedError](err); ok {
			return // no text at all, or bytes that are none
		}
		if err != nil {
			t.Fatal(err)
		}
		corpus := extract.Read(set)
		for _, kind := range kinds {
			statements, _ := corpus.Find(kind, extract.Focus{Words: text[:min(len(text), 20)], Limit: 50})
			for _, s := range statements {
				if strings.Contains(s.Text, "\n") || len(s.Places) == 0 || len([]rune(s.Text)) > 4*evidence.MaxStatement && kind != extract.Outline {
					t.Errorf("%s: %+v", kind, s)
				}
				for _, place := range s.Places {
					if place.Section >= len(set.Documents[place.Document].Sections) {
						t.Errorf("%s: place %+v of %+v", kind, place, set.Documents)
					}
				}
			}
		}
	})
}
