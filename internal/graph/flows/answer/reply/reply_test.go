package reply

import (
	"slices"
	"strings"
	"testing"
)

const written = "Helm defines these [2]:\n\n| Hook | Runs |\n|---|:-:|\n| a | first |\n| b | last【3†x】 |\n\n" +
	"See what it does [4]. According to [1], all is well [Source 2]. No mark here.\n\n" +
	"## Steps\n\n1. **One.** Do it [1]:\n\n   ```sh\n   run it\n   ```\n\n2. two\n   - three [2, 3]\n   - four\n\nEnd.\n[4]\n\nSources:\n[1] a.md\n[2] b.md\n"

func TestRead(t *testing.T) {
	read := Read("<think>Hm, [1]?</think>\n"+written, 4)
	type unit struct {
		kind             Kind
		text, under      string
		cites, inherited []int
	}
	want := []unit{
		{Lead, "Helm defines these:", "", []int{2}, nil},
		{Header, "| Hook | Runs |", "", nil, nil},
		{Row, "| a | first |", "| Hook | Runs |", nil, []int{2}},
		{Row, "| b | last |", "| Hook | Runs |", []int{3}, nil},
		{Sentence, "See what it does.", "", []int{4}, nil},
		{Sentence, "According to the source, all is well.", "", []int{1, 2}, nil},
		{Sentence, "No mark here.", "", nil, []int{1, 2}},
		{Header, "Steps", "", nil, nil},
		{Header, "**One.**", "", nil, []int{1}},
		{Lead, "Do it:", "", []int{1}, nil},
		{Code, "```sh\nrun it\n```", "Do it:", nil, []int{1}},
		{Item, "two", "", nil, nil},
		{Item, "three", "two", []int{2, 3}, nil},
		{Item, "four", "two", nil, nil},
		{Sentence, "End.", "", []int{4}, nil},
	}
	if len(read.Units) != len(want) {
		t.Fatalf("%d units, want %d: %+v", len(read.Units), len(want), read.Units)
	}
	for i, u := range read.Units {
		got := unit{u.Kind, u.Text, u.Under, u.Cites, u.Inherited}
		if got.kind != want[i].kind || got.text != want[i].text || got.under != want[i].under || !slices.Equal(got.cites, want[i].cites) || !slices.Equal(got.inherited, want[i].inherited) {
			t.Errorf("unit %d is %+v, want %+v", i, got, want[i])
		}
	}
}

// TestWriteNumbersByFirstUse writes a reply whole.
func TestWriteNumbersByFirstUse(t *testing.T) {
	read := Read(written, 4)
	var order []int
	number := func(source int) int {
		if !slices.Contains(order, source) {
			order = append(order, source)
		}
		return slices.Index(order, source) + 1
	}
	got := read.Write(make([]Decision, len(read.Units)), number)
	want := "Helm defines these [1]:\n\n| Hook | Runs |\n|---|:-:|\n| a | first |\n| b | last [2] |\n\n" +
		"See what it does [3]. According to [4], all is well [1]. No mark here.\n\n" +
		"## Steps\n\n1. **One.** Do it [4]:\n\n   ```sh\n   run it\n   ```\n\n2. two\n\n   - three [1][2]\n   - four\n\nEnd. [3]"
	if got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
}

func TestWriteWithoutWhatWasRemoved(t *testing.T) {
	remove := Decision{Remove: true}
	for _, test := range []struct {
		name, text string
		decisions  map[int]Decision
		want       string
	}{
		{"a row", "Lead:\n\n| a | b |\n|-|-|\n| 1 | 2 |\n| 3 | 4 |", map[int]Decision{2: remove}, "Lead:\n\n| a | b |\n|-|-|\n| 3 | 4 |"},
		{"all rows", "Lead:\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\nRest.", map[int]Decision{2: remove}, "Rest."},
		{"a marked row", "| a | b |\n|-|-|\n| 1 | 2 |", map[int]Decision{1: {Remark: "*(partly)*"}}, "| a | b |\n|-|-|\n| 1 | 2 *(partly)* |"},
		{"sources of rows", "| a | b |\n|-|-|\n| 1 | 2 |", map[int]Decision{1: {Add: []int{1}}}, "| a | b |\n|-|-|\n| 1 | 2 |\n\n[1]"},
		{"sources of rows with a lead-in", "Lead:\n\n| a | b |\n|-|-|\n| 1 | 2 |", map[int]Decision{2: {Add: []int{1}}}, "Lead [1]:\n\n| a | b |\n|-|-|\n| 1 | 2 |"},
		{"a heading's text", "# A\n\nText.\n\n## B\n\nMore.\n\n# C\n\nRest.", map[int]Decision{1: remove, 3: remove}, "# C\n\nRest."},
		{"an item", "1. one\n2. two\n3. three", map[int]Decision{1: remove}, "1. one\n2. three"},
		{"an item, and said so", "- one\n- two", map[int]Decision{1: {Remove: true, Instead: "*(gone)*"}}, "- one\n- *(gone)*"},
		{"code", "Run this:\n\n```\nx\n```\n\nDone.", map[int]Decision{1: remove}, "Done."},
		{"a sentence in front of what looks like a list", "One.\n2. two", map[int]Decision{0: remove}, "2\\. two"},
	} {
		t.Run(test.name, func(t *testing.T) {
			read := Read(test.text, 1)
			decisions := make([]Decision, len(read.Units))
			for i, d := range test.decisions {
				decisions[i] = d
			}
			if got := read.Write(decisions, func(n int) int { return n }); got != test.want {
				t.Errorf("wrote %q, want %q", got, test.want)
			}
		})
	}
}

// TestWhatIsNoMarkStays has brackets with numbers that cite nothing.
func TestWhatIsNoMarkStays(t *testing.T) {
	for _, text := range []string{
		"Use `list[1]` there.", "See [1](https://docs.example).", "An \\[1] escaped.", "Steps (1) go and (2) stop.", "Call exit(1) then.", "It calls exit(1).", "An arr[7] of it.",
	} {
		read := Read(text, 3)
		if got := read.Write(make([]Decision, len(read.Units)), func(int) int { return 99 }); got != text || len(read.Units[0].Cites) > 0 {
			t.Errorf("%q became %q", text, got)
		}
	}
	if read := Read("The default is set [99].", 3); read.Write(make([]Decision, len(read.Units)), nil) != "The default is set." {
		t.Error("a number that no source has is left")
	}
}

// TestReadStyles has each style in which models cite, and marks that are nouns.
func TestReadStyles(t *testing.T) {
	for text, want := range map[string]string{
		"It is set [2].":                      "It is set [1].",
		"It is set[2][3].":                    "It is set [1][2].",
		"It is set [2, 3].":                   "It is set [1][2].",
		"It is set [Source 2].":               "It is set [1].",
		"It is set 【2】.":                      "It is set [1].",
		"It is set【2†source】.":                "It is set [1].",
		"It is set [^2].":                     "It is set [1].",
		"It is set (2).":                      "It is set [1].",
		"It takes 4 (2).":                     "It takes 4 [1].",
		"Set `a.b` (2, 3).":                   "Set `a.b` [1][2].",
		"It is set. [2]":                      "It is set. [1]",
		"According to [2], it is set.":        "According to [1], it is set.",
		"See [2] and [3] for more.":           "See [1] and [2] for more.",
		"[2] says so.":                        "[1] says so.",
		"Laut [2] ist es so.":                 "Laut [1] ist es so.",
		"One is set [3].\nTwo is [2].\n[3]":   "One is set [1].\nTwo is [2]. [1]",
		"| a | b |\n|-|-|\n| c | 1,200 (2) |": "| a | b |\n|-|-|\n| c | 1,200 [1] |",
	} {
		t.Run(text, func(t *testing.T) {
			read := Read(text, 3)
			var order []int
			got := read.Write(make([]Decision, len(read.Units)), func(source int) int {
				if !slices.Contains(order, source) {
					order = append(order, source)
				}
				return slices.Index(order, source) + 1
			})
			if got != want {
				t.Errorf("wrote %q, want %q", got, want)
			}
		})
	}
}

type counts struct{ tables, rows, items, blocks int }

func countBlocks(blocks []*block) counts {
	var sum counts
	for _, b := range blocks {
		inner := countBlocks(b.children)
		sum = counts{sum.tables + inner.tables, sum.rows + inner.rows, sum.items + inner.items, sum.blocks + inner.blocks}
		switch b.kind {
		case table:
			sum.tables++
			sum.rows += len(b.lines) - 1
		case item:
			sum.items++
		case code:
			sum.blocks++
		}
	}
	return sum
}

// FuzzRead reads random Markdown: what is written whole is read with as many tables, rows,
// items and code blocks, and so it is but for what was removed.
func FuzzRead(f *testing.F) {
	f.Add(written, uint64(0))
	f.Add("- - -a\n  - b\n\n> | a |\n> |-|\n> | b |\n\n    code\n\n1. x\n```\nopen", uint64(3))
	f.Add("a\n***\n+ b\n\n      c\n- d\n* e\n<div>\n\n# #\nx\n===\n- \n-\n\n  y", uint64(5))
	f.Fuzz(func(t *testing.T, markdown string, removed uint64) {
		read := Read(markdown, 9)
		decisions := make([]Decision, len(read.Units))
		same := func(n int) int { return n }
		before := countBlocks(read.blocks)
		whole := read.Write(decisions, same)
		if after := countBlocks(parseBlocks(whole)); after != before {
			t.Fatalf("read %+v in %q,\nwrote %+v in %q", before, markdown, after, whole)
		}
		for i := range decisions {
			decisions[i].Remove = removed>>(i%64)&1 == 1
			decisions[i].Remark = strings.Repeat("*(partly)*", int(removed>>(i%63)&1))
		}
		after := countBlocks(parseBlocks(read.Write(decisions, same)))
		if after.tables > before.tables || after.rows > before.rows || after.items > before.items || after.blocks > before.blocks {
			t.Fatalf("removing from %+v left %+v: %q", before, after, markdown)
		}
	})
}
