package pages

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// keepAll is how long each version is kept from when another one took its place. Changes are
	// merged by the version that they were made of, which a proposal names for a week.
	keepAll = 8 * day
	// maxKept is how many versions a page has at most once they are older than that.
	maxKept = 1000

	day = 24 * time.Hour
)

// thinning is how far apart versions are that are kept of what a person typed, by their age; younger
// ones are an hour apart.
var thinning = []struct{ age, apart time.Duration }{
	{365 * day, 30 * day},
	{31 * day, day},
}

// Prune removes versions that nobody needs any more, and says how many. Each is kept for keepAll.
// Of older ones that were saved while people typed (WhyTyped) the last of each hour, then of each
// day, then of each month is kept for each person. What people decided on (an approved change, a
// restored version) is kept with the version before it; of more than maxKept versions the oldest go
// nevertheless. The first version, the last one and snapshots stay in any case.
func (l *Library) Prune(ctx context.Context) (int, error) {
	all, err := l.backend.List(ctx)
	if err != nil {
		return 0, fmt.Errorf("list pages: %w", err)
	}
	removed := 0
	var failed error
	for _, page := range all {
		versions, err := l.backend.Versions(ctx, page.ID, math.MaxInt32)
		count := 0
		if numbers := findSuperfluous(versions, l.now()); err == nil && len(numbers) > 0 {
			count, err = l.backend.RemoveVersions(ctx, page.ID, numbers)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("remove old versions of page %s: %w", page.ID, err))
		}
		removed += count
	}
	return removed, failed
}

// findSuperfluous gives the numbers of the versions of a page that need not be kept; versions come
// with the last first.
func findSuperfluous(versions []Version, now time.Time) []int {
	type span struct {
		author string
		apart  time.Duration
		index  int64
	}
	seen := make(map[span]bool)
	kept := 0
	var numbers []int
	for i, version := range versions {
		apart := spacing(now.Sub(version.At))
		at := span{version.Author, apart, version.At.UnixMilli() / apart.Milliseconds()}
		isTyped := version.Why == WhyTyped
		isFixed := i == 0 || version.Number == 1 || version.Name != "" || now.Sub(versions[i-1].At) < keepAll
		isRepeated := isTyped && seen[at] && versions[max(i-1, 0)].Why == WhyTyped
		if !isFixed && (isRepeated || kept >= maxKept) {
			numbers = append(numbers, version.Number)
			continue
		}
		seen[at] = seen[at] || isTyped
		kept++
	}
	return numbers
}

// spacing gives how far apart versions of an age are kept that is more than keepAll.
func spacing(age time.Duration) time.Duration {
	for _, t := range thinning {
		if age >= t.age {
			return t.apart
		}
	}
	return time.Hour
}
