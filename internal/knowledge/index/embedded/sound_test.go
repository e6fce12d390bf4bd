package embedded

import "testing"

// checkSound fails the test unless the file is whole and its tables agree: blocks, totals and
// posting lists with the texts, slots with passages and vectors.
func checkSound(t *testing.T, x *Index) {
	t.Helper()
	var verdict string
	if err := x.db.read.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity check: %q, %v", verdict, err)
	}
	for what, query := range map[string]string{
		"vectors without signs or the reverse": "SELECT count(*) FROM sign FULL JOIN vector USING (slot) WHERE signs IS NULL OR halves IS NULL",
		"vectors without slot":                 "SELECT count(*) FROM vector WHERE slot NOT IN (SELECT slot FROM slot)",
		"vectors unlike their signs": `SELECT count(*) FROM sign JOIN vector USING (slot)
			WHERE length(halves) / (2 * (SELECT dimension FROM embedder)) != length(signs) / (8 * (((SELECT dimension FROM embedder) + 63) / 64))`,
		"signs of a later generation": "SELECT count(*) FROM sign WHERE generation > (SELECT generation FROM meta)",
	} {
		var count int
		if err := x.db.read.QueryRow(query).Scan(&count); err != nil || count != 0 {
			t.Errorf("%s: %d, %v", what, count, err)
		}
	}
	if err := x.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
