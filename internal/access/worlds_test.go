package access_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/access"
	"github.com/cairn-bot/cairn/internal/chat"
	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/embedded"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
	"github.com/cairn-bot/cairn/internal/knowledge/index/postgres"
	"github.com/cairn-bot/cairn/internal/servertest"
	"github.com/cairn-bot/cairn/internal/sqlite/sqlitetest"
)

// questionsVariable is how many questions the worlds are asked, for each index.
const questionsVariable = "CAIRN_WORLD_QUESTIONS"

func questionsOr(t *testing.T, standard int) int {
	text := os.Getenv(questionsVariable)
	if text == "" {
		return standard
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		t.Fatalf("%s=%s: want a number from 1", questionsVariable, text)
	}
	return number
}

func TestNobodyIsShownWhatIsNotForThemByTheEmbeddedIndex(t *testing.T) {
	index, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir(), Embedder: indextest.Embedder, Dimension: indextest.Dimension})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIndex(t, index) })
	askWorlds(t, index, questionsOr(t, 1_500))
}

func TestNobodyIsShownWhatIsNotForThemByPostgreSQL(t *testing.T) {
	options := postgres.Options{URL: servertest.Postgres(t), Embedder: indextest.Embedder, Dimension: indextest.Dimension, Logger: slog.New(slog.DiscardHandler)}
	if _, err := postgres.Migrate(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	index, err := postgres.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIndex(t, index) })
	askWorlds(t, index, questionsOr(t, 500))
}

func closeIndex(t *testing.T, index index.Index) {
	if err := index.Close(); err != nil {
		t.Error(err)
	}
}

// telling is a world that is asked.
type telling struct {
	*world
	t        *testing.T
	random   *rand.Rand
	store    access.Store
	resolver *access.Resolver
	index    index.Index
	reader   index.Spelling
	shown    int // documents
	hidden   int
}

const (
	questionsOfWorld = 1000
	questionsOfMoves = 100 // between two changes of a world
)

// askWorlds asks random worlds questions, while grants are given and taken, people and
// documents move, and compares what is shown with the model.
func askWorlds(t *testing.T, index index.Index, questions int) {
	store := access.OpenSQLite(sqlitetest.Open(t, t.TempDir()))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	asked, shown, hidden := 0, 0, 0
	for number := uint64(0); asked < questions && !t.Failed(); number++ {
		w := newTelling(t, store, index, rand.New(rand.NewPCG(seed, number)))
		for i := range min(questionsOfWorld, questions-asked) {
			if i%questionsOfMoves == 0 {
				w.change()
			}
			w.ask()
			asked++
		}
		shown, hidden = shown+w.shown, hidden+w.hidden
	}
	t.Logf("%d questions: %d documents were shown, %d were not", asked, shown, hidden)
	if shown == 0 || hidden == 0 {
		t.Error("the worlds prove nothing")
	}
}

func newTelling(t *testing.T, store access.Store, of index.Index, random *rand.Rand) *telling {
	w := &telling{world: newWorld(random), t: t, random: random, store: store, index: of}
	spelling, ok := of.(index.Spelling)
	if !ok {
		t.Fatal("the index can't spell")
	}
	w.reader = index.Guard(spelling)
	w.resolver = access.NewResolver(access.Options{
		Adapters: map[string]any{"chat": w.world}, Groups: access.NewGroups(store), Logger: slog.New(slog.DiscardHandler),
	})
	w.saveGroups()
	var all []knowledge.DocumentID
	for id := range w.audience {
		all = append(all, id)
	}
	w.put(all...)
	return w
}

func (w *telling) saveGroups() {
	if err := w.store.SaveGroups(w.t.Context(), "test", w.table()); err != nil {
		w.t.Fatal(err)
	}
}

// put writes documents, each with a word and a definition that all have.
func (w *telling) put(ids ...knowledge.DocumentID) {
	var batch index.Batch
	for _, id := range ids {
		principals := make([]knowledge.Principal, len(w.audience[id]))
		for i, text := range w.audience[id] {
			principals[i] = knowledge.Principal(text)
		}
		audience, err := knowledge.NewAudience(principals...)
		if err != nil {
			w.t.Fatal(err)
		}
		text := fmt.Sprintf("alpha %s ways%s", id, id)
		passage := knowledge.Passage{
			ID: knowledge.MakePassageID(id, 0), Document: id, Text: text, Hash: text,
			Definitions: []knowledge.Definition{{Short: "XYZ", Long: string(id)}},
		}
		batch.Put = append(batch.Put, index.Entry{
			Document: knowledge.Document{ID: id, Source: "docs", Kind: knowledge.KindDocumentation, Title: "Title", Audience: audience, State: knowledge.StateLive},
			Passages: []knowledge.Passage{passage},
		})
	}
	if err := w.index.Write(w.t.Context(), batch); err != nil {
		w.t.Fatal(err)
	}
}

// change has people, groups, channels and documents move.
func (w *telling) change() {
	w.broken = w.random.IntN(12) == 0
	w.movePerson(w.random, w.people[w.random.IntN(len(w.people))])
	w.changeChannel(w.random, w.channels[w.random.IntN(len(w.channels))])
	w.changeGroup(w.random, fmt.Sprint("g", w.random.IntN(groupsOfWorld)))
	w.saveGroups()
	moved := knowledge.DocumentID(fmt.Sprint("doc", w.random.IntN(documentsOfWorld)))
	w.audience[moved] = randomAudience(w.random)
	w.put(moved)
}

// ask asks one question, in one of the ways in which documents are read.
func (w *telling) ask() {
	q := question{asker: w.people[w.random.IntN(len(w.people))]}
	if w.random.IntN(4) > 0 {
		q.channel = w.channels[w.random.IntN(len(w.channels))]
	}
	decision := w.resolver.Resolve(w.t.Context(), access.Question{Thread: q.thread(), Asker: chat.UserID(q.asker.id)})
	ctx := knowledge.WithViewers(w.t.Context(), decision.Here)
	ways := []func(context.Context) []knowledge.DocumentID{w.search, w.search, w.passages, w.documents, w.definitions, w.similar}
	way := w.random.IntN(len(ways))
	got := ways[way](ctx)
	for id, audience := range w.audience {
		may := w.mayBeShown(q, audience)
		if w.broken {
			may = slices.Contains(audience, "public")
		}
		if way == len(ways)-1 && may { // one suggestion is enough
			continue
		}
		switch told := slices.Contains(got, id); {
		case told && !may:
			w.t.Errorf("%s is shown %s, which is for %q; groups %q", q, id, audience, w.groups)
		case may && !told:
			w.t.Errorf("%s is not shown %s, which is for %q; groups %q", q, id, audience, w.groups)
		case told:
			w.shown++
		default:
			w.hidden++
		}
	}
}

func (w *telling) fail(err error) {
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *telling) search(ctx context.Context) []knowledge.DocumentID {
	query := indextest.Words("alpha")
	query.Limit = 2 * documentsOfWorld
	found, err := w.reader.Search(ctx, query)
	w.fail(err)
	var ids []knowledge.DocumentID
	for _, hit := range found.Lexical {
		id, _, _ := hit.Passage.Split()
		ids = append(ids, id)
	}
	return ids
}

func (w *telling) passages(ctx context.Context) []knowledge.DocumentID {
	var wanted []knowledge.PassageID
	for id := range w.audience {
		wanted = append(wanted, knowledge.MakePassageID(id, 0))
	}
	found, err := w.reader.Passages(ctx, wanted)
	w.fail(err)
	var ids []knowledge.DocumentID
	for _, f := range found {
		ids = append(ids, f.Document.ID)
	}
	return ids
}

func (w *telling) documents(ctx context.Context) []knowledge.DocumentID {
	var ids []knowledge.DocumentID
	for document, err := range w.reader.Documents(ctx, "") {
		w.fail(err)
		ids = append(ids, document.ID)
	}
	return ids
}

func (w *telling) definitions(ctx context.Context) []knowledge.DocumentID {
	found, err := w.reader.Definitions(ctx, "xyz", knowledge.Unrestricted())
	w.fail(err)
	var ids []knowledge.DocumentID
	for _, d := range found {
		ids = append(ids, knowledge.DocumentID(d.Long))
	}
	return ids
}

// similar asks for the spelling of a word that one document alone has.
func (w *telling) similar(ctx context.Context) []knowledge.DocumentID {
	id := knowledge.DocumentID(fmt.Sprint("doc", w.random.IntN(documentsOfWorld)))
	found, err := w.reader.Similar(ctx, "wayss"+string(id), 1)
	w.fail(err)
	var ids []knowledge.DocumentID
	for _, term := range found {
		ids = append(ids, knowledge.DocumentID(term.Term[len("ways"):]))
	}
	return ids
}
