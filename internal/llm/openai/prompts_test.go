package openai

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden prompts")

func TestPrompts(t *testing.T) {
	for name, wish := range map[string]wish{
		"instruct.tmpl":    {Schema: `{"type":"object","title":"<b>"}`},
		"repair.tmpl":      {Schema: `{"type":"object"}`, Problem: "- at '/n': got string, want integer"},
		"repair_call.tmpl": {Problem: "- at '/town': got number, want string"},
	} {
		got := prompt(name, wish) + "\n"
		path := filepath.Join("testdata", "prompts", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}
