package merge_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/pages/merge"
	"github.com/cairn-bot/cairn/internal/pages/tree"
	"github.com/cairn-bot/cairn/internal/racetest"
)

var (
	seed  = flag.Uint64("merge.seed", 1, "seed of the random edits")
	pairs = flag.Int("merge.pairs", 1200/racetest.Stride, "pairs of edits that are merged")
)

// editor makes pages of words that occur once, and edits them.
type editor struct {
	*rand.Rand
	words int
}

func (e *editor) word() string {
	e.words++
	return fmt.Sprintf("w%d", e.words)
}

func (e *editor) text(most int) string {
	words := make([]string, 1+e.IntN(most))
	for i := range words {
		words[i] = e.word()
	}
	return strings.Join(words, " ")
}

// markdown makes one block.
func (e *editor) markdown() string {
	switch e.IntN(7) {
	case 0:
		return strings.Repeat("#", 1+e.IntN(3)) + " " + e.text(4)
	case 1:
		return "- " + e.text(4) + "\n- " + e.text(4) + "\n  - " + e.text(3) + "\n  - " + e.text(3) + "\n- " + e.text(2)
	case 2:
		return "> " + e.text(5) + "\n>\n> " + e.text(5)
	case 3:
		return "| " + e.text(2) + " | " + e.text(2) + " |\n|---|---|\n| " + e.text(3) + " | " + e.text(3) + " |"
	case 4:
		return e.text(3) + " **" + e.text(3) + "** " + e.text(2) + " [" + e.text(2) + "](https://example.com) " + e.text(2)
	}
	return e.text(8)
}

func (e *editor) page(t testing.TB) *tree.Node {
	var blocks []string
	for range 1 + e.IntN(8) {
		blocks = append(blocks, e.markdown())
	}
	root, err := tree.ParseMarkdown(strings.Join(blocks, "\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	tree.AssignIDs(root, e.fresh)
	return root
}

func (e *editor) fresh() string { return fmt.Sprintf("n%d", e.Uint64N(1<<60)) }

// edit gives a page after some changes.
func (e *editor) edit(t testing.TB, root *tree.Node) *tree.Node {
	t.Helper()
	edited := root.Clone()
	for range 1 + e.IntN(3) {
		e.change(t, edited)
		tree.AssignIDs(edited, e.fresh)
		if err := tree.Normalize(edited); err != nil {
			t.Fatal(err)
		}
		tree.AssignIDs(edited, e.fresh)
	}
	return edited
}

func (e *editor) change(t testing.TB, root *tree.Node) {
	at := e.IntN(len(root.Children))
	switch e.IntN(6) {
	case 0: // a new block
		made, err := tree.ParseMarkdown(e.markdown())
		if err != nil {
			t.Fatal(err)
		}
		root.Children = append(root.Children[:at:at], append(made.Children, root.Children[at:]...)...)
	case 1: // one is gone
		parent, place := e.block(root)
		parent.Children = append(parent.Children[:place:place], parent.Children[place+1:]...)
	case 2: // one is elsewhere
		block := root.Children[at]
		root.Children = append(root.Children[:at:at], root.Children[at+1:]...)
		to := e.IntN(len(root.Children) + 1)
		root.Children = append(root.Children[:to:to], append([]*tree.Node{block}, root.Children[to:]...)...)
	default:
		e.changeText(root)
	}
}

// block picks a block, also an item or a row.
func (e *editor) block(root *tree.Node) (parent *tree.Node, place int) {
	type found struct {
		parent *tree.Node
		place  int
	}
	var all []found
	root.Walk(func(n, _ *tree.Node) bool {
		for i, child := range n.Children {
			if !child.IsInline() {
				all = append(all, found{n, i})
			}
		}
		return true
	})
	one := all[e.IntN(len(all))]
	return one.parent, one.place
}

func (e *editor) changeText(root *tree.Node) {
	var texts []*tree.Node
	root.Walk(func(n, _ *tree.Node) bool {
		if n.Kind == tree.Text {
			texts = append(texts, n)
		}
		return true
	})
	if len(texts) == 0 {
		return
	}
	one := texts[e.IntN(len(texts))]
	words := strings.Split(one.Text, " ")
	at := e.IntN(len(words))
	switch e.IntN(4) {
	case 0:
		words[at] = e.word()
	case 1:
		words = append(words[:at:at], words[at+1:]...)
	case 2:
		one.Format ^= tree.Italic
	default:
		words = append(words[:at:at], append([]string{e.text(3)}, words[at:]...)...)
	}
	one.Text = strings.Join(words, " ")
}

var (
	oneWord = regexp.MustCompile(`w\d+`)
	glued   = regexp.MustCompile(`w\d+(?:w\d+)+`)
)

// wordsOf counts the words of a page.
func wordsOf(root *tree.Node) map[string]int {
	count := make(map[string]int)
	root.Walk(func(n, _ *tree.Node) bool {
		for _, word := range oneWord.FindAllString(n.Text, -1) {
			count[word]++
		}
		return true
	})
	return count
}

// TestNothingIsLostInSilence merges random pairs of edits. Each word that somebody wrote, and
// nobody deleted, is in the result or in a conflict; each that somebody deleted is gone or in
// a conflict.
func TestNothingIsLostInSilence(t *testing.T) {
	t.Logf("-merge.seed=%d", *seed)
	e := &editor{Rand: rand.New(rand.NewPCG(*seed, 0))}
	clashed := 0
	for pair := range *pairs {
		e.words = 0
		base := e.page(t)
		ours, theirs := e.edit(t, base), e.edit(t, base)
		for _, choice := range []merge.Choice{merge.KeepOurs, merge.TakeTheirs, merge.KeepBoth} {
			merged, conflicts, err := merge.Merge(base, ours, theirs, choice)
			if err != nil {
				t.Fatalf("pair %d: %v\n%s\n%s\n%s", pair, err, tree.XML(base), tree.XML(ours), tree.XML(theirs))
			}
			if problem := compareWithWhole(base, ours, theirs, choice, merged, conflicts); problem != "" {
				t.Fatalf("pair %d, %s: %s\nbase %s\nours %s\ntheirs %s", pair, choice, problem, tree.XML(base), tree.XML(ours), tree.XML(theirs))
			}
			if problem := findLoss(base, ours, theirs, merged, conflicts); problem != "" {
				t.Fatalf("pair %d, %s: %s\nbase %s\nours %s\ntheirs %s\nmerged %s\n%+v", pair, choice, problem, tree.XML(base), tree.XML(ours), tree.XML(theirs), tree.XML(merged), conflicts)
			}
			if choice == merge.KeepOurs && len(conflicts) > 0 {
				clashed++
			}
		}
	}
	t.Logf("%d pairs, %d with conflicts", *pairs, clashed)
	if *pairs >= 1000 && (clashed == 0 || clashed > *pairs/2) {
		t.Errorf("%d of %d pairs clashed", clashed, *pairs)
	}
}

func findLoss(base, ours, theirs, merged *tree.Node, conflicts []merge.Conflict) string {
	was, a, b, is := wordsOf(base), wordsOf(ours), wordsOf(theirs), wordsOf(merged)
	var named strings.Builder
	for _, c := range conflicts {
		named.WriteString(c.Base + " " + c.Ours + " " + c.Their + " ")
	}
	inConflict := func(word string) bool {
		return strings.Contains(" "+strings.NewReplacer("*", " ", "|", " ", "[", " ", "]", " ", "\\", " ").Replace(named.String())+" ", word)
	}
	all := make(map[string]bool)
	for _, words := range []map[string]int{was, a, b} {
		for word := range words {
			all[word] = true
		}
	}
	for word := range all {
		wanted := was[word] > 0 && a[word] > 0 && b[word] > 0 || was[word] == 0 && a[word]+b[word] > 0
		switch {
		case is[word] > 1 && !inConflict(word):
			return word + " is there twice"
		case wanted && is[word] == 0 && !inConflict(word):
			return word + " is lost"
		case !wanted && is[word] > 0 && !inConflict(word):
			return word + " is back"
		}
	}
	before := ours.PlainText() + " " + theirs.PlainText()
	for _, run := range glued.FindAllString(merged.PlainText(), -1) {
		words := oneWord.FindAllString(run, -1)
		for i := range len(words) - 1 {
			if !strings.Contains(before, words[i]+words[i+1]) {
				return words[i] + words[i+1] + " were different words"
			}
		}
	}
	for word := range is {
		if !all[word] {
			return word + " is made up"
		}
	}
	return ""
}

// compareWithWhole tells where a merge that folds what nobody changed differs from one that does not.
func compareWithWhole(base, ours, theirs *tree.Node, choice merge.Choice, merged *tree.Node, conflicts []merge.Conflict) string {
	whole, all, err := merge.MergeWhole(base, ours, theirs, choice)
	switch {
	case err != nil:
		return err.Error()
	case !slices.Equal(conflicts, all):
		return fmt.Sprintf("conflicts %+v, without folding %+v", conflicts, all)
	case !bytes.Equal(tree.Encode(tree.WithoutIDs(merged)), tree.Encode(tree.WithoutIDs(whole))):
		return fmt.Sprintf("%s, without folding %s", tree.XML(merged), tree.XML(whole))
	}
	return ""
}

// TestMergesOfOneSide gives that side.
func TestMergesOfOneSide(t *testing.T) {
	t.Logf("-merge.seed=%d", *seed)
	e := &editor{Rand: rand.New(rand.NewPCG(*seed, 1))}
	for range *pairs / 4 {
		base := e.page(t)
		edited := e.edit(t, base)
		for name, sides := range map[string][3]*tree.Node{
			"ours": {base, edited, base}, "theirs": {base, base, edited}, "both": {base, edited, edited},
		} {
			merged, conflicts, err := merge.Merge(sides[0], sides[1], sides[2], merge.KeepOurs)
			if err != nil || len(conflicts) > 0 {
				t.Fatalf("%s: %v, %+v", name, err, conflicts)
			}
			if got, want := tree.Encode(tree.WithoutIDs(merged)), tree.Encode(tree.WithoutIDs(edited)); !bytes.Equal(got, want) {
				t.Fatalf("%s:\nbase %s\ngot %s\nwant %s", name, tree.XML(base), tree.XML(merged), tree.XML(edited))
			}
		}
	}
}

func page(t *testing.T, markdown string) *tree.Node {
	t.Helper()
	root, err := tree.ParseMarkdown(markdown)
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	tree.AssignIDs(root, func() string { number++; return fmt.Sprintf("n%d", number) })
	return root
}

// replaceWords changes the texts of a page.
func replaceWords(root *tree.Node, before, after string) *tree.Node {
	copied := root.Clone()
	copied.Walk(func(n, _ *tree.Node) bool {
		n.Text = strings.ReplaceAll(n.Text, before, after)
		return true
	})
	return copied
}

func TestWordsAreMerged(t *testing.T) {
	base := page(t, "Every employee has 27 days of leave.\n\nAsk Maria.")
	for name, test := range map[string]struct {
		ours, theirs, want string // what stands in the place of "27 days"
		clashes            bool
	}{
		"far apart":      {"28 days", "27 paid days", "28 paid days", false},
		"the same":       {"28 days", "28 days", "28 days", false},
		"the same words": {"28 days", "30 days", "28 days", true},
		"one deleted":    {"27", "27 long days", "27", true},
	} {
		t.Run(name, func(t *testing.T) {
			merged, conflicts, err := merge.Merge(base, replaceWords(base, "27 days", test.ours), replaceWords(base, "27 days", test.theirs), merge.KeepOurs)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := merged.Children[0].PlainText(), "Every employee has "+test.want+" of leave."; got != want || len(conflicts) > 0 != test.clashes {
				t.Errorf("%q, %+v", got, conflicts)
			}
			if test.clashes && (conflicts[0].Kind != merge.Words || conflicts[0].Block != "n1" || !strings.Contains(conflicts[0].Their, test.theirs) || !strings.Contains(conflicts[0].Base, "27 days")) {
				t.Errorf("%+v", conflicts)
			}
		})
	}
}

func TestABlockThatOneDeletesAndTheOtherChanges(t *testing.T) {
	base := page(t, "one\n\ntwo\n\nthree")
	ours := base.Clone()
	ours.Children = append(ours.Children[:1:1], ours.Children[2])
	theirs := replaceWords(base, "two", "two and more")
	for choice, want := range map[merge.Choice]string{merge.KeepOurs: "one\nthree", merge.TakeTheirs: "one\ntwo and more\nthree", merge.KeepBoth: "one\ntwo and more\nthree"} {
		merged, conflicts, err := merge.Merge(base, ours, theirs, choice)
		if err != nil || len(conflicts) != 1 || conflicts[0].Kind != merge.Deleted || conflicts[0].Their != "two and more" {
			t.Fatalf("%v, %+v", err, conflicts)
		}
		if got := merged.PlainText(); got != want {
			t.Errorf("%s: %q", choice, got)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	root, err := tree.ParseMarkdown(strings.Repeat("A paragraph with a few words in it.\n\n", 10_000))
	if err != nil {
		b.Fatal(err)
	}
	tree.AssignIDs(root, tree.RandomID)
	ours, theirs := root.Clone(), root.Clone()
	ours.Children[10].Children[0].Text = "Another paragraph with a few words in it."
	theirs.Children[9000].Children[0].Text = "A paragraph with a few other words in it."
	for b.Loop() {
		if _, conflicts, err := merge.Merge(root, ours, theirs, merge.KeepOurs); err != nil || len(conflicts) > 0 {
			b.Fatal(err, conflicts)
		}
	}
}
