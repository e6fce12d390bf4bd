package parse

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decoded gives a text file as UTF-8 with "\n" as line break: by its byte order mark,
// as UTF-8 where that is what it mostly is (broken bytes become U+FFFD), else as
// Windows-1252, the superset of Latin-1.
func decoded(content []byte) (string, error) {
	switch {
	case hasUTF16Mark(content):
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		converted, _, err := transform.Bytes(utf16.NewDecoder(), content)
		if err != nil {
			return "", fmt.Errorf("decode UTF-16: %w", err)
		}
		return printable(string(converted)), nil
	case mostlyUTF8(content):
		return decodeUTF8(content)
	}
	return decodeWindows1252(content)
}

// hasUTF16Mark says whether content begins with a byte order mark of UTF-16.
func hasUTF16Mark(content []byte) bool {
	return bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff"))
}

func decodeUTF8(content []byte) (string, error) {
	return printable(strings.ToValidUTF8(string(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))), "\uFFFD")), nil
}

func decodeWindows1252(content []byte) (string, error) {
	converted, _, err := transform.Bytes(charmap.Windows1252.NewDecoder(), content)
	if err != nil {
		return "", fmt.Errorf("decode Windows-1252: %w", err)
	}
	return printable(string(converted)), nil
}

// mostlyUTF8 says whether there are more whole multi-byte characters than broken ones.
func mostlyUTF8(content []byte) bool {
	if utf8.Valid(content) {
		return true
	}
	whole, broken := 0, 0
	for len(content) > 0 {
		r, size := utf8.DecodeRune(content)
		switch {
		case r == utf8.RuneError && size == 1:
			broken++
		case size > 1:
			whole++
		}
		content = content[size:]
	}
	return whole > broken
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n")

// printable makes line breaks "\n" and drops the control characters that have no
// place in a text, NUL and escape sequences among them.
func printable(text string) string {
	text = lineBreaks.Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\f':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0, r == '\ufeff':
			return -1
		}
		return r
	}, text)
}
