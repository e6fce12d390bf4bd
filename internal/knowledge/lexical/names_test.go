package lexical_test

import (
	"slices"
	"testing"

	"github.com/cairn-bot/cairn/internal/knowledge/lexical"
)

func TestNames(t *testing.T) {
	for _, test := range []struct {
		title    string
		headings []string
		body     string
		want     []string
	}{
		{"Glossary", []string{"Glossary", "Chart"}, "", []string{":chart"}},
		{"Charts", nil, "", []string{":chart"}},
		{"FAQ", []string{"What is a chart?"}, "", []string{":chart"}},
		{"Glossary", []string{"Repository (Repo, Chart Repository)"}, "", []string{":repositori", ":repo", ":chart repositori"}},
		{"Files", []string{"The `values.yaml` File"}, "", []string{":values.yaml file"}},
		{"Terms", []string{"How"}, "", nil},
		{"", nil, "", nil},
		{"Glossary", nil, "Words:\n\n- ATO - Authority to Operate. It says: go.\n- [CMS](https://a.example.com): a system\n| CSP | a provider |\nand so on", []string{":glossari", ":ato", ":cms", ":csp"}},
		{"Signing", []string{"Steps"}, "- Sign: run it\n", []string{":step"}},
		{"Long", []string{"Signing keys rotate hourly beside archived invoices"}, "", nil},
	} {
		if got := lexical.Names(test.title, test.headings, test.body); !slices.Equal(got, test.want) {
			t.Errorf("%s %q: %q, want %q", test.title, test.headings, got, test.want)
		}
	}
}
