package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cairn-bot/cairn/internal/servertest"
)

// TestDoctorKnowsTheServers has the doctor look at a Redis that may lose what it was told,
// and at a database before and after it is migrated.
func TestDoctorKnowsTheServers(t *testing.T) {
	t.Parallel()
	o := &program{t: t, env: append(os.Environ(),
		"CAIRN_DATA_DIR="+t.TempDir(), "HOME="+t.TempDir(),
		"CAIRN_REDIS_URL="+servertest.Redis(t), "CAIRN_POSTGRES_URL="+servertest.Postgres(t))}
	said := o.examines(true)
	for _, want := range []string{"✓ Redis: version ", "✓ clock: ", "✗ PostgreSQL: ", "`cairn migrate`"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	o.readHandbook()
	said = o.examines(false)
	for _, want := range []string{"✓ PostgreSQL: database ", "pgvector", "✓ index: 3 documents", "✓ threads and runs: in Redis"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
}

func TestTheClockOfRedis(t *testing.T) {
	for ahead, want := range map[time.Duration]struct{ bad, minor bool }{
		time.Second: {false, false}, -10 * time.Second: {true, true}, 2 * time.Minute: {true, false}, -time.Hour: {true, false},
	} {
		found := checkClock(ahead)
		if (found.Problem != nil) != want.bad || found.Minor != want.minor || want.bad && !strings.Contains(found.Remedy, "NTP") {
			t.Errorf("%s ahead: %+v", ahead, found)
		}
	}
}
