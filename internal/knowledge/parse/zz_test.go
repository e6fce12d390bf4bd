package parse

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	n := 200000
	for _, c := range []string{":::note\n", "!!! note\n", "!!! note\n\n    x\n", "[", "![", "*a_ ", "**a ", "`", "`a``", "<a", "<!--", "[a](", "[a]: b\n", "| a ", "|-", "a\n|-\n", "&#", "~~", "- a\n", "1. a\n\n", "> a\n", ">\n> a\n\n", "# a\n", "#\n", "a\n===\n", "```\n", "\\", "<div>\n\n", "a  \n", "\t", "=== \"x\"\n", "[^", "[[", "a_", "***", "---\n", "{#", "(x) ", "Ab (A) ", "\"", "![a][", "]("} {
		src := strings.Repeat(c, n/len(c))
		for _, mt := range []string{Markdown, HTML, Plain} {
			start := time.Now()
			_, err := Parse(context.Background(), mt, "a", []byte(src), Limits{})
			if d := time.Since(start); d > 300*time.Millisecond {
				fmt.Printf("%s %q %v %v\n", mt, c, d, err)
			}
		}
	}
}
