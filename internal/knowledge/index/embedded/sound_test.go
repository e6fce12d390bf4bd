package embedded

import (
	"cairn/internal/language"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// checkSound fails the test unless the file is whole and its tables agree: posting
// lists with the texts, terms with the lists, slots with passages and vectors.
func checkSound(t *testing.T, x *Index) {
	t.Helper()
	var verdict string
	if err := x.read.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity check: %q, %v", verdict, err)
	}
	for what, query := range map[string]string{
		"slots in use without passage":         "SELECT count(*) FROM slot WHERE document IS NOT NULL AND slot NOT IN (SELECT slot FROM passage)",
		"passages without slot":                "SELECT count(*) FROM passage LEFT JOIN slot USING (slot) WHERE slot.document IS NOT passage.document OR slot.position IS NOT passage.position",
		"passages without document":            "SELECT count(*) FROM passage WHERE document NOT IN (SELECT id FROM document)",
		"definitions without passage":          "SELECT count(*) FROM definition WHERE slot NOT IN (SELECT slot FROM passage)",
		"vectors without signs or the reverse": "SELECT count(*) FROM slot LEFT JOIN vector USING (slot) WHERE (slot.signs IS NULL) != (vector.slot IS NULL)",
		"vectors without slot":                 "SELECT count(*) FROM vector WHERE slot NOT IN (SELECT slot FROM slot WHERE document IS NOT NULL)",
		"vectors unlike their signs": `SELECT count(*) FROM slot JOIN vector USING (slot)
			WHERE length(halves) / (2 * (SELECT dimension FROM meta)) != length(signs) / (8 * (((SELECT dimension FROM meta) + 63) / 64))`,
		"terms unlike their lists": `SELECT count(*) FROM (SELECT term, count(*) AS n FROM posting GROUP BY term) FULL JOIN term ON text = term
			WHERE n IS NOT blocks`,
		"changes of a later generation": "SELECT count(*) FROM slot WHERE generation > (SELECT generation FROM meta)",
	} {
		var count int
		if err := x.read.QueryRow(query).Scan(&count); err != nil || count != 0 {
			t.Errorf("%s: %d, %v", what, count, err)
		}
	}
	checkPostings(t, x)
}

// checkPostings makes all posting lists again from the texts.
func checkPostings(t *testing.T, x *Index) {
	t.Helper()
	edits := make(postingEdits)
	eachRow(t, x, "SELECT slot, title, language, headings, text FROM passage JOIN document ON document.id = document", func(rows *sql.Rows) error {
		var slot int64
		var title, tag, encoded, text string
		if err := rows.Scan(&slot, &title, &tag, &encoded, &text); err != nil {
			return err
		}
		var headings []string
		if err := json.Unmarshal([]byte(encoded), &headings); err != nil {
			return err
		}
		words := analyzePassage(language.Parse(tag), title, headings, text)
		edits.addPassage(slot, words)
		return nil
	})
	eachRow(t, x, "SELECT block, term, passages, postings FROM posting", func(rows *sql.Rows) error {
		var block int64
		var term string
		var passages int
		var data []byte
		if err := rows.Scan(&block, &term, &passages, &data); err != nil {
			return err
		}
		got, err := decodePostings(data)
		if err != nil {
			return err
		}
		edit := edits[block][term]
		delete(edits[block], term)
		if edit == nil {
			t.Errorf("the list of %q in block %d is in no text", term, block)
			return nil
		}
		want, err := edit.applyTo(nil)
		if err != nil {
			return err
		}
		if !slices.Equal(got, want) || passages != len(want) {
			t.Errorf("the list of %q in block %d: %v (%d), want %v", term, block, got, passages, want)
		}
		return nil
	})
	for block, terms := range edits {
		if len(terms) > 0 {
			t.Errorf("block %d has no lists of %q", block, slices.Sorted(maps.Keys(terms)))
		}
	}
}

func eachRow(t *testing.T, x *Index, query string, use func(*sql.Rows) error) {
	t.Helper()
	rows, err := x.read.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := use(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
