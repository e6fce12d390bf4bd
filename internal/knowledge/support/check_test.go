package support_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/support"
)

var handbook = []string{
	"Restarting Heron",
	"The Heron cluster is drained before a restart, which takes four minutes.",
	"Since 2024-05-31 at most 1,200 jobs run there at once.",
	"A restart does not delete the jobs that wait.",
	"Set queue.maxDepth to 30s of work and no more.",
	"東京の倉庫は月曜日に閉まります。",
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, claim string
		label       support.Label
		missing     []string
	}{
		{"as it stands", "The Heron cluster is drained before a restart, which takes four minutes.", support.Supported, nil},
		{"in other words", "A restart of Heron takes 4 minutes.", support.Supported, nil},
		{"over two sentences", "Heron takes four minutes to restart and runs at most 1200 jobs.", support.Supported, nil},
		{"another number", "A restart of Heron takes 9 minutes.", support.Partly, []string{"9"}},
		{"another name", "A restart of the Magpie cluster takes four minutes.", support.Partly, []string{"Magpie"}},
		{"a month of an ISO date", "Since May 2024 at most 1,200 jobs run at once.", support.Supported, nil},
		{"another month", "Since June 2024 at most 1,200 jobs run at once.", support.Partly, []string{"June"}},
		{"the opposite", "A restart does delete the jobs that wait.", support.Partly, nil},
		{"an identifier", "With queue.maxDepth at 30 seconds, work waits.", support.Supported, []string{"seconds"}},
		{"another identifier", "Set queue.minDepth to 30s of work.", support.Partly, []string{"queue.minDepth"}},
		{"a denial in another word", "A restart of the Heron cluster refuses to delete the jobs that wait.", support.Supported, []string{"refuses"}},
		{"nothing of it", "Lunch is served in the garden.", support.Unsupported, []string{"Lunch", "served", "garden"}},
		{"without spaces", "東京の倉庫", support.Supported, nil},
		{"nothing asserted", "Yes, it is.", support.Supported, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := support.Check(test.claim, handbook)
			if got.Label != test.label || !slices.Equal(got.Missing, test.missing) {
				t.Errorf("%s at %.2f, missing %q, want %s, missing %q", got.Label, got.Score, got.Missing, test.label, test.missing)
			}
		})
	}
}

// TestOtherSubject checks claims that say of one thing what the evidence says of another.
func TestOtherSubject(t *testing.T) {
	evidence := []string{
		"There are three modes:", "`calm` (default): jobs wait for each other", "`brisk`: jobs run at once", "Orders are small (default) or large.",
		"the total weight of all boxes, shown as `box_sum`", "the count of boxes that were packed, shown as `box_count`",
		"The interval defaults to 30s, or to what `slow` says.",
	}
	for _, pair := range []struct{ right, wrong string }{
		{"The default mode is `calm`.", "The default mode is `brisk`."},
		{"The default order is `small`.", "The default order is `large`."},
		{"`box_count` has the count of boxes that were packed.", "`box_sum` has the count of boxes that were packed."},
		{"`box_sum` has the total weight of all boxes.", "`box_count` has the total weight of all boxes."},
	} {
		right, wrong := support.Check(pair.right, evidence), support.Check(pair.wrong, evidence)
		if right.Faithful < support.FaithfulFrom || wrong.Faithful >= support.FaithfulFrom {
			t.Errorf("%.2f of %q, %.2f of %q", right.Faithful, pair.right, wrong.Faithful, pair.wrong)
		}
	}
}

// TestOtherWords checks claims in words that mean the same, and a default that is told by who may change it.
func TestOtherWords(t *testing.T) {
	evidence := append([]string{"The sweeper deletes finished jobs once an hour by default.", "Verbose logs are disabled by default."}, handbook...)
	for claim, missing := range map[string][]string{
		"The sweeper removes finished jobs every hour unless you change it.": nil,
		"Verbose logs are switched off by default.":                          nil,
		"The sweeper paints finished jobs.":                                  {"paints"},
	} {
		if got := support.Check(claim, evidence); !slices.Equal(got.Missing, missing) {
			t.Errorf("%q misses %q, want %q", claim, got.Missing, missing)
		}
	}
}

// TestDefaultsOfRows has rows of a table beside a list that names defaults.
func TestDefaultsOfRows(t *testing.T) {
	evidence := support.ReadEvidence([]string{
		"`retries` is how often a job is tried again.", "`retries` Default is 2.", "`mode` tells how jobs wait, the default is `calm`.", "`mode` `brisk` is for tests.",
	})
	header := "| Option | Default | Meaning |"
	for row, want := range map[string]bool{
		"| `retries` | 2 | tries |": false, "| `retries` | 5 | tries |": true, "| `mode` | `calm` | waiting |": false, "| `mode` | `brisk` | waiting |": true,
		"| `other` | 5 | waiting |": false, "| `retries` | 5 |": false,
	} {
		if got := evidence.NamesOtherDefault(row, header); got != want {
			t.Errorf("%q: %v", row, got)
		}
	}
}

// TestAbsent looks for what no source has, whoever says that it supports the statement.
func TestAbsent(t *testing.T) {
	evidence := append([]string{
		"| Release | Date | End |", "| Heron 2.45 | 2023-06-23 | 2024-07-31 |", "| **Heron 3.5** | **2025-07-14** | **2026-07-31** |",
		"| `drainPeriod` | time for a drain | 100ms |", "| `waitPeriod` | time for a wait | 200ms |", "| Heron | Works with |", "| 3.12.x | 1.27.x to 1.24.x |", "| 3.13.x | 1.28.x to 1.25.x |",
		"Run `heron drain --grace-period` first; PostgreSQL 15 keeps at most 1MB.", "Set `queue.maxDepth` in `heron.yaml`.",
	}, handbook...)
	for _, test := range []struct {
		name   string
		stated support.Stated
		absent []string
	}{
		{"all there", support.Stated{Text: "Run `heron drain --grace-period`, which takes 4 minutes."}, nil},
		{"another number", support.Stated{Text: "At most 1,300 jobs run there."}, []string{"1,300"}},
		{"another unit", support.Stated{Text: "PostgreSQL keeps at most 1GB."}, []string{"1GB"}},
		{"another unit as a word", support.Stated{Text: "A restart takes 4 hours."}, []string{"4"}},
		{"a number of units in words", support.Stated{Text: "A restart takes four minutes."}, nil},
		{"another number of units in words", support.Stated{Text: "A restart takes six minutes."}, []string{"6"}},
		{"another flag", support.Stated{Text: "Run `heron drain --grace`."}, []string{"--grace"}},
		{"another name", support.Stated{Text: "It needs MySQL there."}, []string{"MySQL"}},
		{"a name of the question", support.Stated{Text: "It is not for Windows.", Question: "does it run on windows?"}, nil},
		{"a number of a row with its unit", support.Stated{Text: "| `drainPeriod` | 100ms |", Row: true}, nil},
		{"a rate", support.Stated{Text: "At most 1,200 jobs a day run there."}, nil},
		{"a row", support.Stated{Text: "| 3.12.x | 1.27.x to 1.24.x |", Row: true}, nil},
		{"another row", support.Stated{Text: "| 3.12.x | 1.28.x to 1.25.x |", Row: true}, []string{"1.28", "1.25"}},
		{"another row in a sentence", support.Stated{Text: "Heron `3.13.x` works with `1.27.x`."}, []string{"1.27"}},
		{"a row of dates", support.Stated{Text: "| 2.45 | 2023-06-23 | 2024-07-31 |", Row: true}, nil},
		{"a row of emphasized dates", support.Stated{Text: "| 3.5 | 2025-07-14 | 2026-07-31 |", Row: true}, nil},
		{"another row's date", support.Stated{Text: "| 2.45 | 2023-06-23 | 2026-07-31 |", Row: true}, []string{"2026-07-31"}},
		{"another date", support.Stated{Text: "| 2.45 | 2023-06-24 | 2024-07-31 |", Row: true}, []string{"2023-06-24"}},
		{"code", support.Stated{Text: "```sh\nheron drain --grace-period\n```", Code: true}, nil},
		{"an address of somebody's own in code", support.Stated{Text: "```sh\nheron drain oci://registry.example.com/me\n```", Code: true}, nil},
		{"another variable in code", support.Stated{Text: "```yaml\nqueue.minDepth: 3\n```", Code: true}, []string{"queue.minDepth:"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := support.Absent(test.stated, evidence); !slices.Equal(got, test.absent) {
				t.Errorf("%q, want %q", got, test.absent)
			}
		})
	}
}

// TestFaithful compares statements with their opposites in the same words.
func TestFaithful(t *testing.T) {
	section := []string{
		"Queues", "Conditions always override tags.", "Jobs are sorted by name in ascending order.",
		"If the linter finds a broken rule, it emits [ERROR] messages.", "If it finds an odd style, it emits [WARNING] messages.",
		"The log is kept for 30 days, jobs for 7 days.", "A stopped worker does not lose its job.",
	}
	for _, test := range []struct{ name, right, wrong string }{
		{"roles exchanged", "Conditions always override the tags.", "Tags always override the conditions."},
		{"opposite", "The jobs are sorted by name in ascending order.", "The jobs are sorted by name in descending order."},
		{"word of another sentence", "If the linter finds an odd style, it emits [WARNING] messages.", "If the linter finds an odd style, it emits [ERROR] messages."},
		{"denial", "A stopped worker does not lose the job.", "A stopped worker does lose the job."},
	} {
		t.Run(test.name, func(t *testing.T) {
			right, wrong := support.Check(test.right, section).Faithful, support.Check(test.wrong, section).Faithful
			if right <= wrong {
				t.Errorf("%q at %.2f, %q at %.2f", test.right, right, test.wrong, wrong)
			}
		})
	}
}

func TestCheckWithoutEvidence(t *testing.T) {
	got := support.Check("Heron restarts.", nil)
	if got.Label != support.Unsupported || got.Score != 0 {
		t.Errorf("%s at %.2f by no evidence", got.Label, got.Score)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("A restart of Heron takes 4 minutes.", strings.Join(handbook, "\n"))
	f.Add("1,200,300 v1.2 \u00b2 5th 0", "1,200 2024-13-01 2024-1")
	f.Add("don't \xff 東京の倉庫", "Don\u2019t")
	f.Fuzz(func(t *testing.T, claim, evidence string) {
		sentences := strings.Split(evidence, "\n")
		got := support.Check(claim, sentences)
		if !(got.Score >= 0 && got.Score <= 1) {
			t.Errorf("score %v", got.Score)
		}
		if again := support.Check(claim, sentences); again.Score != got.Score || !slices.Equal(again.Missing, got.Missing) {
			t.Errorf("checked twice: %+v and %+v", got, again)
		}
		if itself := support.Check(claim, []string{claim}); itself.Label != support.Supported || len(itself.Missing) > 0 {
			t.Errorf("%q by itself: %+v", claim, itself)
		}
	})
}

// BenchmarkCheck is one sentence against a passage of 200 words.
func BenchmarkCheck(b *testing.B) {
	passage := slices.Repeat(handbook[1:5], 6)
	for b.Loop() {
		support.Check("A restart of the Heron cluster takes four minutes and deletes no job.", passage)
	}
}
