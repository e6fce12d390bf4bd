package webcode

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what is searched for routes.
const (
	maxRouteFile  = 256 << 10
	maxRouteBytes = 16 << 20
	maxRoutes     = 5
)

// serverFiles are the endings of files that servers are written in.
var serverFiles = []string{".go", ".py", ".rb", ".java", ".kt", ".js", ".mjs", ".ts", ".php", ".cs", ".rs", ".ex", ".scala"}

var (
	// routeWords stand in lines that register a route.
	routeWords = regexp.MustCompile(`(?i)\b(?:handle(?:func)?|route[rs]?|get|post|put|patch|delete|all|use|path|re_path|(?:request|get|post|put|patch|delete)mapping|map(?:get|post|put|patch|delete)|app|mux|resources?)\b`)
	// sending stands in lines of clients.
	sending = regexp.MustCompile(`\b(?:fetch|axios|XMLHttpRequest|requests?)\b\s*[.(]`)
	// routePath is the path of a route, with the method that may stand before it.
	routePath = regexp.MustCompile("[\"'`](?:(GET|POST|PUT|PATCH|DELETE) )?(/[^\"'`\\s]*)[\"'`]")
	// methodWord is the method that a line names otherwise.
	methodWord = regexp.MustCompile(`(?i)(?:[.@]|\bMap|\bmethod\s*[=:]\s*\W?|\bmethods\s*=\s*\W*)(get|post|put|patch|delete)`)
)

// findRoutes finds the lines of the project's servers that answer a request, which is sent in a line.
func (f *follower) findRoutes(sent request, from Place) []Place {
	target := sent.path
	if parsed, err := url.Parse(target); err == nil && parsed.Host != "" {
		target = parsed.Path
	}
	target, _, _ = strings.Cut(target, "?")
	if strings.Trim(target, "/") == "" {
		return nil
	}
	var found []Place
	left := int64(maxRouteBytes)
	for _, file := range f.checkout.Files {
		if !slices.Contains(serverFiles, path.Ext(file.Path)) || file.Size > maxRouteFile || file.Size > left {
			continue
		}
		left -= file.Size
		content, err := f.checkout.Read(file.Path)
		if err != nil || !strings.Contains(string(content), "/") {
			continue
		}
		for i, line := range strings.Split(string(content), "\n") {
			if (Place{file.Path, i + 1}) != from && registersRoute(line, sent.method, target) {
				found = append(found, Place{file.Path, i + 1})
				if len(found) == maxRoutes {
					return found
				}
			}
		}
	}
	return found
}

// registersRoute tells whether a line registers a route for a request.
func registersRoute(line, method, target string) bool {
	if len(line) > 1_000 || !routeWords.MatchString(line) || sending.MatchString(line) {
		return false
	}
	for _, route := range routePath.FindAllStringSubmatch(line, -1) {
		named := route[1]
		if word := methodWord.FindStringSubmatch(line); named == "" && word != nil {
			named = strings.ToUpper(word[1])
		}
		if (named == "" || named == method) && matchRoute(route[2], target) {
			return true
		}
	}
	return false
}

// matchRoute compares the path of a route, whose parts may be parameters, with that of a request,
// whose parts may be computed.
func matchRoute(route, target string) bool {
	routeParts, parts := strings.Split(strings.Trim(route, "/"), "/"), strings.Split(strings.Trim(target, "/"), "/")
	if len(routeParts) != len(parts) {
		return false
	}
	for i, part := range routeParts {
		if !strings.ContainsAny(part, ":{<*") && !strings.Contains(parts[i], "${") && part != parts[i] {
			return false
		}
	}
	return true
}
