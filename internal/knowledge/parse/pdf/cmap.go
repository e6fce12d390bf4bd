package pdf

// cmap maps the codes of a font to text.
type cmap struct {
	oneByte bool // every code is a single byte
	single  map[int]string
	missing map[int]bool // looked for in the ranges in vain
	ranges  []codeRange
}

type codeRange struct {
	from, to int
	text     string // of from; the last character counts up
}

const (
	maxRanges = 20_000
	maxSingle = 200_000
)

// readCMap reads a ToUnicode map. The numbers in front of its lists are not trusted:
// a list goes to its end mark.
func readCMap(data []byte) *cmap {
	elements := 0
	l := &lexer{data: data, elements: &elements}
	m := &cmap{single: map[int]string{}, missing: map[int]bool{}}
	var operands []object
	longest := 0
	for {
		o := l.readObject(false, 0)
		if o.kind == end {
			m.oneByte = longest == 1
			return m
		}
		if o.kind != keyword {
			if len(operands) < 3*maxSingle {
				operands = append(operands, o)
			}
			continue
		}
		switch o.text {
		case "endcodespacerange":
			for _, code := range operands {
				longest = max(longest, len(code.text))
			}
		case "endbfchar":
			m.addSingle(operands)
		case "endbfrange":
			m.addRanges(operands)
		}
		operands = operands[:0]
	}
}

func (m *cmap) addSingle(operands []object) {
	for i := 0; i+1 < len(operands) && len(m.single) < maxSingle; i += 2 {
		m.single[codeOf(operands[i].text)] = fromUTF16(operands[i+1].text)
	}
}

func (m *cmap) addRanges(operands []object) {
	for i := 0; i+2 < len(operands); i += 3 {
		from, to, target := codeOf(operands[i].text), codeOf(operands[i+1].text), operands[i+2]
		switch {
		case target.kind == array:
			for j, item := range target.items {
				if len(m.single) < maxSingle && from+j <= to {
					m.single[from+j] = fromUTF16(item.text)
				}
			}
		case from <= to && len(m.ranges) < maxRanges:
			m.ranges = append(m.ranges, codeRange{from: from, to: to, text: fromUTF16(target.text)})
		}
	}
}

func codeOf(raw string) int {
	code := 0
	for i := range min(len(raw), 4) {
		code = code<<8 | int(raw[i])
	}
	return code
}

// lookupCode returns the text of a code, and remembers it where it was in a range.
func (m *cmap) lookupCode(code int) (string, bool) {
	if text, ok := m.single[code]; ok {
		return text, true
	}
	if m.missing[code] {
		return "", false
	}
	for _, r := range m.ranges {
		if code < r.from || code > r.to {
			continue
		}
		runes := []rune(r.text)
		if len(runes) == 0 {
			return "", true
		}
		runes[len(runes)-1] += rune(code - r.from)
		m.single[code] = string(runes)
		return m.single[code], true
	}
	m.missing[code] = true
	return "", false
}
