package source

import (
	"bytes"
	"regexp"
)

// definitions find the names that a line defines, by its language. Others have what most
// languages have.
var definitions = map[Language]*regexp.Regexp{
	Go:         regexp.MustCompile(`^(?:func\s+(?:\([^)]*\)\s*)?(\w+)|type\s+(\w+)|(?:const|var)\s+(\w+)|\t(\w+)\s+(?:[\w.*\[\]]+\s*)?=)`),
	Python:     regexp.MustCompile(`^\s*(?:(?:async\s+)?def\s+(\w+)|class\s+(\w+)|([A-Z_][A-Z0-9_]+)\s*(?::[^=]+)?=)`),
	JavaScript: scriptDefinition,
	TypeScript: scriptDefinition,
	Rust:       regexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|const|unsafe|extern)\s+)*(?:fn|struct|enum|trait|type|const|static|mod|macro_rules!)\s+(\w+)`),
	Ruby:       regexp.MustCompile(`^\s*(?:def\s+(?:self\.)?(\w+[?!]?)|(?:class|module)\s+([\w:]+)|([A-Z][A-Z0-9_]+)\s*=)`),
}

var (
	scriptDefinition = regexp.MustCompile(`^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\*?\s+(\w+)|(?:abstract\s+)?class\s+(\w+)|(?:interface|type|enum)\s+(\w+)|(?:const|let|var)\s+(\w+)\s*=|(?:[\w$]+\.)+(\w+)\s*=\s*(?:async\s+)?(?:function|\()|(\w+)\s*\([^)]*\)\s*\{)`)
	otherDefinition  = regexp.MustCompile(`^\s*(?:(?:public|private|protected|internal|static|final|abstract|override|open|async|sealed|data|inline)\s+)*(?:(?:class|interface|enum|record|struct|object|trait|namespace)\s+(\w+)|(?:fun|function|func|sub)\s+(\w+)|[\w<>\[\],.?]+\s+(\w+)\s*\([^;]*$)`)
	keyword          = regexp.MustCompile(`^(?:if|for|while|switch|return|else|catch|do|new|throw|with|try)$`)
)

// DefinedOn returns the name that a line of a program defines, "" for none.
func DefinedOn(language Language, line []byte) string {
	if !language.Program() || len(line) > maxDefinition {
		return ""
	}
	pattern := definitions[language]
	if pattern == nil {
		pattern = otherDefinition
	}
	for i, found := range pattern.FindSubmatch(line) {
		if i > 0 && len(found) > 0 && !keyword.Match(found) {
			return string(bytes.TrimSpace(found))
		}
	}
	return ""
}

// maxDefinition is the length of a line that is looked at, in bytes.
const maxDefinition = 500
