package eval

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

const topics = `{"topic_id":1,"request":"heron","type":"ambiguous","facets":[{"id":"1-1","text":"Where does the Heron cluster run?"},{"id":"1-2","text":"What do herons eat?"}],"questions":[{"text":"do you mean the bird","answers":[{"facet":"1-1","answer":"no the cluster"},{"facet":"1-2","answer":"yes what it eats"}]},{"text":"do you mean the Heron cluster?","answers":[{"facet":"1-1","answer":"yes where it runs"}]}]}
`

func TestTopics(t *testing.T) {
	loaded, err := LoadTopics(writeFiles(t, map[string]string{topicsFile: topics}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ asked, facet, want string }{
		{"Do you mean the Heron “cluster”?", "1-1", "yes where it runs"},
		{"Which bird?", "1-1", "no the cluster"},
		{"Do you mean the Heron cluster?", "1-2", "yes what it eats"},
		{"Which?", "1-3", ""},
	} {
		reply, ok := loaded[0].Reply(test.asked, test.facet)
		if reply != test.want || ok != (test.want != "") {
			t.Errorf("reply to %q with %s in mind: %q, %v, want %q", test.asked, test.facet, reply, ok, test.want)
		}
	}
	var ids []string
	for document, err := range FacetDocuments(loaded) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, document.ID)
	}
	if strings.Join(ids, " ") != "1-1 1-2" {
		t.Errorf("documents %q", ids)
	}
}

func TestLoadTopicsWithoutFile(t *testing.T) {
	if loaded, err := LoadTopics(t.TempDir()); err != nil || loaded != nil {
		t.Errorf("%v, %v", loaded, err)
	}
}

func TestLoadTopicsRejects(t *testing.T) {
	for want, file := range map[string]string{
		"topic 7 has no request":      `{"topic_id":7,"request":" "}`,
		`facet id "1-1" occurs twice`: topics + topics,
	} {
		_, err := LoadTopics(writeFiles(t, map[string]string{topicsFile: file}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestFacetGroup(t *testing.T) {
	group := FacetGroup([]Led{
		{Type: "ambiguous", Asked: true, Replied: true, Facet: "a", Before: "b", After: "a", Answered: true},
		{Type: "ambiguous", Facet: "b"},
		{Type: "faceted", Asked: true, Replied: true, Facet: "c", Before: "c", After: "d"},
		{Type: "faceted", Asked: true, Facet: "d"},
	})
	report := Report{Groups: []Group{group}}
	for name, want := range map[string]float64{
		"asked, ambiguous": 0.5, "asked, faceted": 1, "facet first when asked": 0.5, "facet first after reply": 0.5, "answered after reply": 0.5,
	} {
		if got := rowOf(t, report, 0, name); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
}

func FuzzReadTopics(f *testing.F) {
	f.Add([]byte(topics))
	f.Fuzz(func(t *testing.T, data []byte) {
		loaded, err := readTopics("topics", bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, topic := range loaded {
			for _, facet := range topic.Facets {
				if reply, ok := topic.Reply(topic.Request, facet.ID); !ok && reply != "" {
					t.Errorf("facet %q: reply %q of nobody", facet.ID, reply)
				}
			}
		}
	})
}
