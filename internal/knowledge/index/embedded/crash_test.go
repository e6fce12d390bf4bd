package embedded

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge"
	"github.com/cairn-bot/cairn/internal/knowledge/index"
	"github.com/cairn-bot/cairn/internal/knowledge/index/indextest"
)

// writerSeed makes this test binary a process that writes a seeded history to the
// index in writerDir until it is killed.
const (
	writerSeed = "CAIRN_TEST_WRITER_SEED"
	writerDir  = "CAIRN_TEST_WRITER_DIR"
)

func TestMain(m *testing.M) {
	if seed := os.Getenv(writerSeed); seed != "" {
		if err := writeForever(seed, os.Getenv(writerDir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func suiteOptions(dir string) Options {
	return Options{Dir: dir, Embedder: indextest.Embedder, Dimension: indextest.Dimension}
}

// history gives the batches that a writer of a seed writes; each stores its number
// as the cursor.
type history struct {
	random *rand.Rand
	number int
}

func newHistory(seed uint64) *history {
	return &history{random: rand.New(rand.NewPCG(seed, 11))}
}

func (h *history) next() index.Batch {
	h.number++
	batch := indextest.RandomBatch(h.random)
	batch.Cursors = map[knowledge.SourceID]string{"docs": strconv.Itoa(h.number)}
	return batch
}

// writeForever goes on with a history where the index has it, and says each batch
// that is written.
func writeForever(seed, dir string) error {
	number, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return err
	}
	ctx := context.Background()
	x, err := Open(ctx, suiteOptions(dir))
	if err != nil {
		return err
	}
	done, err := storedNumber(ctx, x)
	if err != nil {
		return err
	}
	h := newHistory(number)
	for h.number < done {
		h.next()
	}
	for {
		if err := x.Write(ctx, h.next()); err != nil {
			return err
		}
		fmt.Println(h.number)
		found, err := x.Unembedded(ctx, 20)
		if err != nil {
			return err
		}
		var vectors []index.Vectors
		for _, f := range found {
			vectors = append(vectors, indextest.VectorsOf(f.Passage))
		}
		if err := x.WriteVectors(ctx, vectors); err != nil {
			return err
		}
	}
}

func storedNumber(ctx context.Context, x *Index) (int, error) {
	cursor, err := x.Cursor(ctx, "docs")
	if err != nil || cursor == "" {
		return 0, err
	}
	return strconv.Atoi(cursor)
}

// TestKilledWriter kills a writing process many times. Each time the file must be
// sound, and hold exactly the batches that were written, and perhaps the one that
// was under way, whole.
func TestKilledWriter(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 12))
	dir := t.TempDir()
	for range 12 {
		acknowledged := killWriter(t, dir, seed, random)
		x, err := Open(t.Context(), suiteOptions(dir))
		if err != nil {
			t.Fatalf("open after a kill: %v", err)
		}
		checkSound(t, x)
		stored, err := storedNumber(t.Context(), x)
		if err != nil || stored < acknowledged {
			t.Fatalf("%d batches stored, %v; %d were acknowledged", stored, err, acknowledged)
		}
		h := newHistory(seed)
		var batches []index.Batch
		for range stored {
			batches = append(batches, h.next())
		}
		indextest.CheckHistory(t, x, batches)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// killWriter runs a writer, kills it at a random moment and gives the last batch
// that it said was written.
func killWriter(t *testing.T, dir string, seed uint64, random *rand.Rand) int {
	t.Helper()
	writer := exec.Command(os.Args[0], "-test.run=^$")
	writer.Env = append(os.Environ(), writerSeed+"="+strconv.FormatUint(seed, 10), writerDir+"="+dir)
	writer.Stderr = os.Stderr
	output, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	last := 0
	read := func() bool {
		if !lines.Scan() {
			return false
		}
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Errorf("the writer says %q", lines.Text())
		}
		return true
	}
	for range 1 + random.IntN(6) {
		if !read() {
			t.Error("the writer ended by itself")
			break
		}
	}
	// Some work moves the kill to any point of the next batch.
	for busy := random.IntN(3_000_000); busy > 0; busy-- {
		random.Uint64()
	}
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for read() {
	}
	if err := writer.Wait(); err == nil {
		t.Error("the writer was not killed")
	}
	return last
}
