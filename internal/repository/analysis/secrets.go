package analysis

import (
	"bytes"
	"regexp"
	"slices"
)

// secret is where something stands that looks like a secret. What stands there is kept
// nowhere.
type secret struct {
	kind string
	line int
}

// pattern is what a kind of secret looks like.
type pattern struct {
	kind string
	// begins are beginnings of words, one of which is in every match: they are looked for first,
	// which takes a small part of the time of looks.
	begins []string
	looks  *regexp.Regexp
}

var secretPatterns = []pattern{
	{"a private key", []string{"PRIVATE KEY-----"}, regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{32,}`)},
	{"an access key of AWS", []string{"AKIA"}, regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`)},
	{"a token of GitHub", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`)},
	{"a token of GitHub", []string{"github_pat_"}, regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{50,}`)},
	{"a token of GitLab", []string{"glpat-"}, regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"a token of Slack", []string{"xox"}, regexp.MustCompile(`\bxox[abposr]-[A-Za-z0-9]+-[A-Za-z0-9-]{16,}`)},
	{"an app token of Slack", []string{"xapp-"}, regexp.MustCompile(`\bxapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{32,}`)},
	{"an API key of Google", []string{"AIza"}, regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}\b`)},
	{"a live key of Stripe", []string{"sk_live_", "rk_live_"}, regexp.MustCompile(`\b[sr]k_live_[0-9A-Za-z]{20,}`)},
	{"an API key of a language model", []string{"sk-"}, regexp.MustCompile(`\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{40,}`)},
	{"a token of npm", []string{"npm_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`)},
}

// mayMatch tells whether a text has one of the beginnings.
func (p pattern) mayMatch(content []byte) bool {
	return slices.ContainsFunc(p.begins, func(beginning string) bool {
		for rest := content; ; {
			at := bytes.Index(rest, []byte(beginning))
			if at < 0 {
				return false
			}
			if before := len(content) - len(rest) + at - 1; before < 0 || !isWordByte(content[before]) {
				return true
			}
			rest = rest[at+1:]
		}
	})
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// mostSecrets is how many are noted in one file.
const mostSecrets = 20

// findSecrets finds what looks like a secret.
func findSecrets(content []byte) []secret {
	var found []secret
	for _, p := range secretPatterns {
		if !p.mayMatch(content) {
			continue
		}
		for _, at := range p.looks.FindAllIndex(content, mostSecrets) {
			if !isExample(content[at[0]:at[1]]) {
				found = append(found, secret{p.kind, bytes.Count(content[:at[0]], []byte{'\n'}) + 1})
			}
		}
	}
	slices.SortFunc(found, func(a, b secret) int { return a.line - b.line })
	return found
}

// isExample tells what stands for a secret in documentation: "AKIAIOSFODNN7EXAMPLE".
func isExample(match []byte) bool {
	upper := bytes.ToUpper(match)
	for _, word := range []string{"EXAMPLE", "XXXXXX", "000000000", "PLACEHOLDER", "1234567890"} {
		if bytes.Contains(upper, []byte(word)) {
			return true
		}
	}
	return false
}

// withoutSecrets takes out what looks like a secret, keeping the lines.
func withoutSecrets(content []byte) []byte {
	for _, p := range secretPatterns {
		if p.mayMatch(content) {
			content = p.looks.ReplaceAllFunc(content, func(match []byte) []byte {
				return append([]byte("[secret removed]"), bytes.Repeat([]byte{'\n'}, bytes.Count(match, []byte{'\n'}))...)
			})
		}
	}
	return content
}
