package answer

import (
	"strings"

	"github.com/cairn-bot/cairn/internal/language"
	"github.com/cairn-bot/cairn/internal/phrases"
)

// withLanguages adds to a note which languages are quoted that are not the question's.
func withLanguages(said string, s State, cited []citation) string {
	asked := language.Detect(s.OriginalQuery).Or(language.English)
	speaker := phrases.In(asked)
	noted := make(map[language.Tag]bool)
	for _, c := range cited {
		quoted := language.Parse(s.SearchResults[c.Evidence].Document.Language)
		if quoted == language.Unknown || quoted == asked || noted[quoted] {
			continue
		}
		noted[quoted] = true
		said += " " + speaker.Text(phrases.QuotedLanguage, speaker.LanguageName(quoted))
	}
	return strings.TrimSpace(said)
}

// withVersions adds which older versions of what is cited say something else.
func withVersions(said string, s State, cited []citation) string {
	versions := differingVersions(s.SearchResults, s.OriginalQuery, cited)
	if len(versions) == 0 {
		return said
	}
	speaker := phrases.In(language.Detect(s.OriginalQuery).Or(language.English))
	return strings.TrimSpace(said + " " + speaker.Text(phrases.OlderVersionDiffers, strings.Join(versions, ", ")))
}
