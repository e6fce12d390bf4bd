package curated_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/cairn-bot/cairn/internal/curated"
)

// TestAnAnswerOfAFormerProgramIsRead reads an answer as the first version stored it. The file stays
// as it is: what later versions add, it lacks.
func TestAnAnswerOfAFormerProgramIsRead(t *testing.T) {
	body, err := os.ReadFile("testdata/stored-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := curated.Decode(body)
	if want := sample("pin-1", monday); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
}
