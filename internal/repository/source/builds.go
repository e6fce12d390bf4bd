package source

import (
	"bufio"
	"bytes"
	"go/build/constraint"
	"path"
	"strings"
)

// Builds are the builds that a file is part of, as bits: one for each of a list of systems
// that Go is built for. Files of languages without such constraints are part of all.
type Builds uint32

// AllBuilds is a file without constraints.
const AllBuilds = Builds(1<<len(builds) - 1)

// build is a system that a file of Go may be built for, with C or without.
type build struct {
	system, machine string
	cgo             bool
}

// builds are one of each system, and of one system each machine: no more can tell
// constraints apart.
var builds = [...]build{
	{"linux", "amd64", true}, {"linux", "386", false}, {"linux", "arm", false}, {"linux", "arm64", false}, {"linux", "loong64", false},
	{"linux", "mips", false}, {"linux", "mips64", false}, {"linux", "mips64le", false}, {"linux", "mipsle", false}, {"linux", "ppc64", false},
	{"linux", "ppc64le", false}, {"linux", "riscv64", false}, {"linux", "s390x", false},
	{"darwin", "arm64", true}, {"darwin", "amd64", false}, {"windows", "amd64", false}, {"windows", "arm64", true}, {"aix", "ppc64", false},
	{"android", "arm64", true}, {"dragonfly", "amd64", true}, {"freebsd", "amd64", true}, {"illumos", "amd64", true}, {"ios", "arm64", true},
	{"js", "wasm", false}, {"netbsd", "amd64", true}, {"openbsd", "amd64", true}, {"plan9", "386", false}, {"solaris", "amd64", true},
	{"wasip1", "wasm", false},
}

var systems, machines = func() (systems, machines map[string]bool) {
	systems, machines = make(map[string]bool), make(map[string]bool)
	for _, b := range builds {
		systems[b.system], machines[b.machine] = true, true
	}
	for _, other := range []string{"hurd", "nacl", "zos"} {
		systems[other] = true
	}
	for _, other := range []string{"amd64p32", "armbe", "arm64be", "mips64p32", "mips64p32le", "ppc", "riscv", "s390", "sparc", "sparc64"} {
		machines[other] = true
	}
	return systems, machines
}()

// has tells whether a build has a tag. Tags that projects make up, as "ignore" and
// "integration", are of no build: who builds has to name them.
func (b build) has(tag string) bool {
	switch {
	case tag == b.system, tag == b.machine, tag == "gc", strings.HasPrefix(tag, "go1."):
		return true
	case tag == "cgo":
		return b.cgo
	case tag == "unix":
		return b.system != "windows" && b.system != "plan9" && b.system != "js" && b.system != "wasip1"
	case tag == "linux":
		return b.system == "android"
	case tag == "solaris":
		return b.system == "illumos"
	case tag == "darwin":
		return b.system == "ios"
	}
	return false
}

// BuildsOf returns the builds that a file of Go is part of, by its name and the constraints
// above its package clause: none for what only runs by hand, as a generator with
// "//go:build ignore". Folders that the go command does not look into are left to the caller.
func BuildsOf(file string, content []byte) Builds {
	system, machine := suffixesOf(path.Base(file))
	expressions := constraintsOf(content)
	if system == "" && machine == "" && len(expressions) == 0 {
		return AllBuilds
	}
	var found Builds
	for i, b := range builds {
		if system != "" && !b.has(system) || machine != "" && b.machine != machine {
			continue
		}
		satisfied := true
		for _, expression := range expressions {
			satisfied = satisfied && expression.Eval(b.has)
		}
		if satisfied {
			found |= 1 << i
		}
	}
	return found
}

// suffixesOf returns what a name says that its file is for: "dial_linux_arm64.go".
func suffixesOf(name string) (system, machine string) {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_test")
	parts := strings.Split(stem, "_")[1:]
	if n := len(parts); n > 0 && machines[parts[n-1]] {
		machine, parts = parts[n-1], parts[:n-1]
	}
	if n := len(parts); n > 0 && systems[parts[n-1]] {
		system = parts[n-1]
	}
	return system, machine
}

// constraintsOf returns the constraints of a file, all of which must be met: one "//go:build",
// or else the lines that begin with "// +build".
func constraintsOf(content []byte) []constraint.Expr {
	var older []constraint.Expr
	lines := bufio.NewScanner(bytes.NewReader(content))
	inside := false // of a comment of several lines
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case inside:
			inside = !strings.Contains(line, "*/")
			continue
		case strings.HasPrefix(line, "/*"):
			inside = !strings.Contains(line, "*/")
			continue
		case line != "" && !strings.HasPrefix(line, "//"):
			return older
		}
		expression, err := constraint.Parse(line)
		if err != nil {
			continue
		}
		if constraint.IsGoBuild(line) {
			return []constraint.Expr{expression}
		}
		older = append(older, expression)
	}
	return older
}
