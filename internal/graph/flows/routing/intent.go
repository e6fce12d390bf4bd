package routing

import (
	"regexp"
	"strings"
)

// Wish is what a message without a command wants.
type Wish struct {
	Flow    string   // "" where the rules do not know, or it is a plain question
	Why     string   // in words, where Flow is known
	Perhaps []string // flows that it may be meant for, where Flow is not known
}

// compileStem makes an expression that finds one of the given beginnings of words. Writings
// without spaces between words have them anywhere.
func compileStem(beginnings string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}_])(?:` + beginnings + `)`)
}

func compileAnywhere(pieces string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:` + pieces + `)`)
}

var (
	// hosted is the address of a repository.
	hosted = regexp.MustCompile(`(?i)(?:https?://|git@)(?:www\.)?(?:github|gitlab|bitbucket|codeberg)[\w.-]*[/:][\w.-]+/[\w.-]+|https?://\S+\.git\b`)
	// repository is the thing, in several languages.
	repository = compileStem(`repo(?:s|sitor\w*|sitorium)?(?:$|[^\p{L}])|code ?base|source (?:code|tree)|quellcode|quelltext|dépôt|depot git|code source|repositorio|código fuente|repositório|código-fonte|репозитори|исходн`)
	// repositoryCJK is the thing in writings without spaces.
	repositoryCJK = compileAnywhere(`仓库|代码库|源代码|リポジトリ|ソースコード|저장소|소스 ?코드`)
	// examine is what is done to it.
	examine = compileStem(`anal[yi][sz]\w*|an(?:aly|ayl|yal|ali|lay)\w*[sz]e\w*|anal[yi]s[ie]\w*|analyz\w*|analiz\w*|inspect\w*|review\w*|audit\w*|explore\w*|examin\w*|report on|look (?:into|at|through|over)|go through|read through|walk (?:me )?through|map out|summari[sz]e|untersuch\w*|prüf\w*|schau\w* .*an|fass\w* .*zusammen|examine\w*|résum\w*|revis\w*|examina\w*|проанализир|изучи|посмотри`)
	// compare is done to several things.
	compare = compileStem(`compare|contrast|vergleich\w*|comparez?|compara|сравни`)
	// examineCJK is that in writings without spaces.
	examineCJK = compileAnywhere(`分析|审查|解析|レビュー|調べて|분석|검토`)
	// told is a repository that is only talked about: a question about work with it.
	told = compileStem(`how (?:do|does|can|should|to)|who (?:owns|may|can|has)|where (?:do|can|is the (?:policy|rule|guide))|may i|can i|am i allowed|wie (?:kann|lege|bekomme|erstelle)|comment|cómo|como (?:faço|posso)|как`)

	// screen is the app in front of the person.
	screen = compileStem(`(?:this|the|that|current|open|my) (?:\w+ )?(?:page|screen|view|tab|form|dialog|button|menu|window|ui)(?:$|[^\p{L}])|on (?:the )?screen|on my screen|(?:diese|dieser|die|der aktuellen?) (?:seite|maske|ansicht)|cette page|cet écran|l'écran|esta (?:página|pantalla)|esta tela|эт(?:а|ой|у) страниц`)
	// screenCJK is that in writings without spaces.
	screenCJK = compileAnywhere(`这个页面|当前页面|这个按钮|このページ|この画面|이 페이지|이 화면`)
	// looking asks what the page shows.
	looking = compileStem(`what (?:does|do|is|are|happens|can i)|why (?:is|does|do|can'?t|won'?t)|where (?:is|do i|can i)|which|how (?:many|do i)|explain|describe|is there|was (?:ist|macht|zeigt|passiert)|warum|wo (?:ist|finde)|welche|que (?:fait|montre)|qu'est-ce|pourquoi|où|qué (?:hace|muestra)|por qué|dónde|o que|что|почему|где`)
	// lookingCJK is that in writings without spaces.
	lookingCJK = compileAnywhere(`什么|为什么|哪里|何|なぜ|どこ|무엇|왜|어디`)
	// editing changes it.
	editing = compileStem(`change|edit|add|insert|append|remove|delete|rename|rewrite|reword|replace|update|move|fix|correct|shorten|translate|make (?:the|it|this)|turn (?:the|this)|put|ändere|füge|entferne|lösche|ersetze|kürze|verschiebe|übersetze|schreib\w* .*um|change|ajoute|supprime|remplace|modifie|cambia|añade|agrega|elimina|borra|reemplaza|измени|добавь|удали|замени`)
	// editingCJK is that in writings without spaces.
	editingCJK = compileAnywhere(`修改|添加|删除|替换|変更|追加|削除|書き換え|수정|추가|삭제`)
	// edited is what is edited: a page or a part of one.
	edited = compileStem(`(?:this|the|that|my|active|open|current) (?:(?:first|second|third|last|whole|entire|main|open|active|current) ){0,2}(?:page|heading|headline|title|section|paragraph|table|list|intro(?:duction)?|footer|sidebar|chapter|bullet\w*|sentence)(?:$|[^\p{L}])|(?:die|der|den|das|diese\w*) (?:\w+ )?(?:seite|überschrift|titel|abschnitt|absatz|tabelle|liste|einleitung)|(?:la|cette|le|ce) (?:page|section|titre|paragraphe|tableau)|(?:la|el|esta|este) (?:página|sección|título|párrafo|tabla)`)
	// editedCJK is that in writings without spaces.
	editedCJK = compileAnywhere(`页面|标题|段落|表格|ページ|見出し|段落|表|페이지|제목|문단`)
	// drafting asks for a page of what was said: "write a page from this thread".
	drafting = regexp.MustCompile(`(?i)\b(?:write|make|create|draft|start|turn|schreib\w*|mach\w*|erstell\w*)\b.{0,40}\b(?:page|wiki|seite)\b.{0,30}\b(?:this|the|diese\w*|dem) (?:thread|conversation|discussion|chat|unterhaltung|diskussion)\b|\b(?:write|make|create|draft|turn|schreib\w*|mach\w*|erstell\w*)\b.{0,30}\b(?:this|the|diese\w*|dem) (?:thread|conversation|discussion|chat|unterhaltung|diskussion)\b.{0,30}\b(?:page|wiki|seite)\b`)
	// elsewhere is a page that is not in front of the person.
	elsewhere = compileStem(`(?:wiki|confluence|notion|status|login|landing|intranet|handbook|policy|help|docs?|documentation|onboarding|pricing|careers?) ?(?:page|seite)|page on-?call|pager|home ?page|web ?page`)
)

// revising begins a message that wants something changed in what was made before.
var revising = regexp.MustCompile(`(?i)^\W*(?:(?:please|pls|now|ok(?:ay)?|and|can you|could you)\W+)*(?:make (?:it|this|that)|add|include|shorten|expand|extend|rewrite|reword|revise|redo|rerun|remove|drop|leave out|rename|reorder|translate it|focus|mach(?:e)? es|füge?|ergänze?|kürze?|ajoute|raccourcis|añade|agrega|acorta)(?:$|[^\p{L}])`)

// onWidget points at the widget or the page that an answer was about.
var onWidget = regexp.MustCompile(`(?i)^\W*(?:(?:ok(?:ay)?|so|now)\W+)*(?:and|what about|how about)\b.*\b(?:its|it|this|that|other|style|propert|event|handler|button|label|link|field|widget|icon|page|screen|tap|click|press)|\b(?:its|it'?s|the|that|this)\s+(?:\w+\s+)?(?:styles?|propert\w*|events?|handlers?|button|widget|label|field|caption|colou?r)\b|\bwhat happens (?:on|when|if)\b`)

// pressing is a wish to have the control pressed that an answer was about.
var pressing = regexp.MustCompile(`(?i)^\W*(?:(?:please|pls|ok(?:ay)?|now|and|then|yes|so|can you|could you|go ahead and)[\s,]+)*(?:press|click|tap|try)\s+(?:it|this|that)\b`)

// owning asks whose the code is that an answer was about.
var owning = regexp.MustCompile(`(?i)^\W*(?:and\W+)?who\s+(?:owns|maintains)\s+(?:it|this|that)\b`)

// AsksOnAboutWidget tells whether a message points at the widget or the page that an answer was
// about: "and its styles?", "what about the other button?", "press it".
func AsksOnAboutWidget(text string) bool {
	return matchesAny(text, onWidget, pressing, owning)
}

var (
	webAddress = regexp.MustCompile(`https?://[^\s<>|)]+`)
	// pageQuestion asks about a page, or to use it.
	pageQuestion = compileStem(`what|why|which|where|who|how|does|is there|press|click|tap|try|inspect|look at|explain|describe|was|warum|welche|wer|wo|que|pourquoi|qui|qué|por qué|quién`)
)

// AsksAboutPage tells whether a message asks about a web page that it names, which isPage knows:
// "what happens when I press Save on https://shop.example.com/checkout?".
func AsksAboutPage(text string, isPage func(address string) bool) bool {
	for _, address := range webAddress.FindAllString(text, -1) {
		if isPage(strings.TrimRight(address, ".,;:!?")) {
			return pageQuestion.MatchString(webAddress.ReplaceAllString(text, " "))
		}
	}
	return false
}

// controlAction is what is done to a control of an app, and what is asked of that.
var controlAction = regexp.MustCompile(`(?i)\bwhat\b.*\b(?:happens?|does it do)\b.*\b(?:when|if|on|after)\b.*\b(?:tap|press|click|touch|swipe|long[- ]?press|select)(?:s|ed|ing)?\b|\b(?:the|this|my) selected (?:widget|element|control|component)\b`)

// AsksWhatControlDoes tells whether a message asks what an app does when a control of it is used:
// "what happens when I tap Save?".
func AsksWhatControlDoes(text string) bool { return controlAction.MatchString(text) }

// Revises tells whether a message wants something changed in what was made before it.
func Revises(text string) bool { return revising.MatchString(text) }

func matchesAny(text string, of ...*regexp.Regexp) bool {
	for _, expression := range of {
		if expression.MatchString(text) {
			return true
		}
	}
	return false
}

// Intent finds out what a message without a command wants: an examination of a repository,
// an analysis of the files that came with it, an edit of the page in front of the person,
// or to know something about the page.
func Intent(text string, attached bool) Wish {
	text = strings.Join(strings.Fields(text), " ")
	named := hosted.MatchString(text)
	thing := named || matchesAny(text, repository, repositoryCJK)
	switch {
	case drafting.MatchString(text) && !told.MatchString(text):
		return Wish{Flow: Page, Why: "it asks for a page of what was said"}
	case thing && matchesAny(text, examine, examineCJK) && !told.MatchString(text):
		return Wish{Flow: Repo, Why: "it asks to examine a repository"}
	case attached && (beginsWith(text, examine) || beginsWith(text, compare) || examineCJK.MatchString(text)):
		return Wish{Flow: Analyze, Why: "it asks to examine the files that came with it"}
	case named && !told.MatchString(text):
		return Wish{Perhaps: []string{Repo}}
	}
	here := matchesAny(text, screen, screenCJK)
	switch changes := beginsWith(text, editing) || editingCJK.MatchString(text); {
	case changes && matchesAny(text, edited, editedCJK) && !elsewhere.MatchString(text):
		return Wish{Flow: Page, Why: "it asks to edit the page"}
	case here && matchesAny(text, looking, lookingCJK) && !elsewhere.MatchString(text):
		return Wish{Flow: Inspect, Why: "it asks about the page in front of the person"}
	case here && !elsewhere.MatchString(text):
		return Wish{Perhaps: []string{Inspect, Page}}
	case thing && !told.MatchString(text):
		return Wish{Perhaps: []string{Repo}}
	}
	return Wish{}
}

// polite are words that stand before a request.
var polite = regexp.MustCompile(`(?i)^(?:(?:hey|hi|hello|ok|okay|cairn|please|pls|plz|bitte|por favor|could you|can you|would you|will you|kannst du|könntest du|peux-tu|puedes|s'il te plaît|now|and|then|also|just)[,!.]? )+`)

// beginsWith tells whether a text begins with a word, but for courtesy.
func beginsWith(text string, word *regexp.Regexp) bool {
	text = polite.ReplaceAllString(text, "")
	found := word.FindStringIndex(text)
	return found != nil && found[0] == 0
}
