package indextest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
)

// benchGroups is how many groups the documents of a benchmark are for.
const benchGroups = 10_000

// DrawAudience gives a document of a benchmark its audience: half of them are public, the
// others for one to three of benchGroups groups.
func DrawAudience(random *rand.Rand) knowledge.Audience {
	if random.IntN(2) == 0 {
		return knowledge.PublicAudience
	}
	groups := make([]knowledge.Principal, 1+random.IntN(3))
	for i := range groups {
		groups[i] = benchGroup(random.IntN(benchGroups))
	}
	audience, err := knowledge.NewAudience(groups...)
	if err != nil {
		panic(err) // the names are made above
	}
	return audience
}

func benchGroup(number int) knowledge.Principal {
	return knowledge.Principal(fmt.Sprintf("group:drive:%05d", number))
}

// ViewersByPrincipals are people of a benchmark by how many principals they hold; 0 is who
// may see everything.
func ViewersByPrincipals() map[int]knowledge.Viewers {
	viewers := map[int]knowledge.Viewers{0: knowledge.Unrestricted()}
	for _, principals := range []int{1, 100, benchGroups} {
		held := []knowledge.Principal{}
		for number := range principals {
			held = append(held, benchGroup(number*benchGroups/principals))
		}
		viewers[principals] = knowledge.NewViewers(held)
	}
	return viewers
}

// BenchViewers measures what it costs that viewers may not see everything: each question is
// searched for in an index of the same passages that has no audiences (plain, nil: none), without
// a filter, and by people who hold 1, 100 and 10,000 principals, in turn, so that what else the
// machine does weighs on all of them.
func (c *Corpus) BenchViewers(b *testing.B, x, plain index.Reader) {
	viewers := ViewersByPrincipals()
	people := slices.Sorted(maps.Keys(viewers))
	times := make([][]time.Duration, len(people))
	var plainTimes []time.Duration
	random := rand.New(rand.NewPCG(5, 6))
	for b.Loop() {
		query := c.Question(random)
		query.Vector = BenchVector(random)
		if plain != nil {
			query.Filter.Viewers = knowledge.Unrestricted()
			plainTimes = append(plainTimes, timeSearch(b, plain, query))
		}
		for i := range people {
			query.Filter.Viewers = viewers[people[i]]
			times[i] = append(times[i], timeSearch(b, x, query))
		}
	}
	for i := range times {
		median, highest := percentiles(times[i])
		free, _ := percentiles(times[0])
		b.Logf("%6d principals: median %6.2f ms, 99%% %6.2f ms, %.2f times no filter", people[i], median, highest, median/free)
		if plain != nil {
			free, _ := percentiles(plainTimes)
			b.Logf("        %.2f times the index without audiences, whose median is %.2f ms", median/free, free)
		}
	}
}

// timeSearch returns how long a search takes.
func timeSearch(b *testing.B, x index.Reader, query index.Query) time.Duration {
	b.Helper()
	started := time.Now()
	if _, err := x.Search(b.Context(), query); err != nil {
		b.Fatal(err)
	}
	return time.Since(started)
}

// percentiles returns the 50th and the 99th percentile of times, in milliseconds. It sorts them.
func percentiles(times []time.Duration) (median, highest float64) {
	slices.Sort(times)
	return times[len(times)/2].Seconds() * 1000, times[len(times)*99/100].Seconds() * 1000
}
