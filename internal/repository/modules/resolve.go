package modules

import (
	"path"
	"slices"
	"strings"

	"github.com/cairn-bot/cairn/internal/repository/source"
)

// index finds the folders that imports lead to.
type index struct {
	named    Named
	files    map[string]bool
	folders  map[string]bool
	python   map[string]string              // dotted name → file
	packages map[source.Language]namespaces // of languages whose files declare what they belong to
	ruby     map[string]string              // path below a "lib" or "app" folder, without its ending → file
	crates   map[string]string              // folder → that of its crate's root file
}

// target is what an import leads to: a folder, and the file in it where the language names one.
type target struct{ folder, file string }

func fileTarget(file string) target { return target{path.Dir(file), file} }

// namespaces are folders by the packages or namespaces that their files declare.
type namespaces map[string][]string

func newIndex(files []File, named Named) *index {
	x := &index{
		named: named, files: make(map[string]bool), folders: make(map[string]bool), python: make(map[string]string),
		packages: make(map[source.Language]namespaces), ruby: make(map[string]string), crates: make(map[string]string),
	}
	for _, file := range files {
		x.files[file.Path] = true
		if !file.Test {
			x.folders[path.Dir(file.Path)] = true
		}
	}
	for _, file := range files {
		if file.Test {
			continue
		}
		folder := path.Dir(file.Path)
		switch file.Language {
		case source.Python:
			x.addPython(file.Path)
		case source.Java, source.Kotlin, source.CSharp, source.PHP:
			x.declareFile(file, folder)
		case source.Ruby:
			for at, part := range splitPath(file.Path) {
				if part == "lib" || part == "app" {
					x.ruby[strings.TrimSuffix(strings.Join(splitPath(file.Path)[at+1:], "/"), ".rb")] = file.Path
				}
			}
		case source.Rust:
			if base := path.Base(file.Path); base == "lib.rs" || base == "main.rs" {
				x.crates[folder] = folder
			}
		}
	}
	return x
}

func splitPath(file string) []string { return strings.Split(file, "/") }

func (x *index) declareFile(file File, folder string) {
	language := file.Language
	if language == source.Kotlin {
		language = source.Java // they import one another
	}
	if x.packages[language] == nil {
		x.packages[language] = make(namespaces)
	}
	if known := x.packages[language]; file.Facts.Package != "" && !slices.Contains(known[file.Facts.Package], folder) {
		known[file.Facts.Package] = append(known[file.Facts.Package], folder)
	}
}

// addPython notes the names of a file: from the folder above its outermost package, and
// from the root and "src", for packages that do not say that they are some.
func (x *index) addPython(file string) {
	folder := path.Dir(file)
	outermost := folder
	for outermost != "." && x.files[path.Join(outermost, "__init__.py")] {
		outermost = path.Dir(outermost)
	}
	for _, root := range []string{outermost, ".", "src"} {
		name, below := file, true
		if root != "." {
			name, below = strings.CutPrefix(file, root+"/")
		}
		if !below {
			continue
		}
		name = strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), "/__init__")
		name = strings.ReplaceAll(name, "/", ".")
		if _, ok := x.python[name]; !ok {
			x.python[name] = file
		}
	}
}

// resolveImport returns what an import leads to, nothing for what is not in the repository.
func (x *index) resolveImport(file File, found source.Import) []target {
	switch file.Language {
	case source.Go:
		return x.goPackage(found.Path)
	case source.Python:
		return x.pythonModule(file.Path, found)
	case source.JavaScript, source.TypeScript:
		return x.resolveScript(file.Path, found.Path)
	case source.Rust:
		return x.resolveRust(file.Path, found.Path)
	case source.Java, source.Kotlin:
		return folderTargets(x.packages[source.Java].longestMatch(strings.TrimSuffix(found.Path, ".*"), "."))
	case source.CSharp:
		return folderTargets(x.packages[source.CSharp][found.Path])
	case source.PHP:
		if rest, relative := strings.CutPrefix(found.Path, "./"); relative {
			return x.resolveInclude(file.Path, rest)
		}
		return folderTargets(x.packages[source.PHP].longestMatch(found.Path, `\`))
	case source.Ruby:
		return x.resolveRequire(file.Path, found.Path)
	}
	return nil
}

// longestMatch finds the package that a name is in, or is.
func (n namespaces) longestMatch(name, separator string) []string {
	for name != "" {
		if folders := n[name]; folders != nil {
			return folders
		}
		at := strings.LastIndex(name, separator)
		if at < 0 {
			return nil
		}
		name = name[:at]
	}
	return nil
}

func folderTargets(folders []string) []target {
	targets := make([]target, len(folders))
	for i, folder := range folders {
		targets[i] = target{folder: folder}
	}
	return targets
}

func (x *index) findFolder(folder string) []target {
	if folder = path.Clean(folder); x.folders[folder] {
		return []target{{folder: folder}}
	}
	return nil
}

// findFile returns a file whose folder is a module.
func (x *index) findFile(file string) []target {
	if file = path.Clean(file); x.files[file] && x.folders[path.Dir(file)] {
		return []target{fileTarget(file)}
	}
	return nil
}

// goPackage finds the package of an import path in the module whose path is the longest
// beginning of it. The module of the standard library has no path of its own.
func (x *index) goPackage(imported string) []target {
	for prefix := imported; prefix != "." && prefix != "/"; prefix = path.Dir(prefix) {
		if folder, ok := x.named.Go[prefix]; ok {
			return x.findFolder(path.Join(folder, strings.TrimPrefix(imported, prefix)))
		}
	}
	if folder, ok := x.named.Go["std"]; ok {
		return x.findFolder(path.Join(folder, imported))
	}
	return nil
}

func (x *index) pythonModule(file string, found source.Import) []target {
	name := found.Path
	if rest := strings.TrimLeft(name, "."); rest != name {
		folder := path.Dir(file)
		for range len(name) - len(rest) - 1 {
			folder = path.Dir(folder)
		}
		return x.pythonFiles(path.Join(folder, strings.ReplaceAll(rest, ".", "/")), found.Names)
	}
	var targets []target
	for _, one := range found.Names {
		if at, ok := x.python[name+"."+one]; ok && !slices.Contains(targets, fileTarget(at)) {
			targets = append(targets, fileTarget(at))
		}
	}
	if len(targets) > 0 {
		return targets
	}
	for name != "" {
		if at, ok := x.python[name]; ok {
			return []target{fileTarget(at)}
		}
		name = name[:max(0, strings.LastIndexByte(name, '.'))]
	}
	return nil
}

// pythonFiles finds what is imported relative to a file: a module, modules of a package that
// are named, or the package.
func (x *index) pythonFiles(at string, names []string) []target {
	if x.files[at+".py"] {
		return x.findFile(at + ".py")
	}
	var targets []target
	for _, name := range names {
		for _, file := range []string{path.Join(at, name) + ".py", path.Join(at, name, "__init__.py")} {
			targets = append(targets, x.findFile(file)...)
		}
	}
	if len(targets) > 0 {
		return targets
	}
	if found := x.findFile(path.Join(at, "__init__.py")); found != nil {
		return found
	}
	return x.findFolder(at)
}

var scriptEndings = []string{"", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".vue", ".svelte"}

func (x *index) resolveScript(file, imported string) []target {
	if !strings.HasPrefix(imported, ".") {
		return x.scriptPackage(imported)
	}
	return x.scriptFile(path.Join(path.Dir(file), imported))
}

// scriptFile finds the file of a path without its ending, or the index of a folder.
func (x *index) scriptFile(at string) []target {
	// TypeScript names the file that will be made: "./a.js" of "a.ts".
	for _, stem := range []string{at, strings.TrimSuffix(at, path.Ext(at)), path.Join(at, "index")} {
		for _, ending := range scriptEndings {
			if found := x.findFile(stem + ending); found != nil {
				return found
			}
		}
	}
	return x.findFolder(at)
}

// scriptPackage finds a package of the same repository: "@scope/name/part" is looked for
// in the folder of "@scope/name", and in the "src" below it.
func (x *index) scriptPackage(imported string) []target {
	for name := imported; name != "." && name != "/"; name = path.Dir(name) {
		folder, ok := x.named.JavaScript[name]
		if !ok {
			continue
		}
		rest := strings.TrimPrefix(strings.TrimPrefix(imported, name), "/")
		for _, at := range []string{path.Join(folder, rest), path.Join(folder, "src", rest), path.Join(folder, "src"), folder} {
			if found := x.scriptFile(at); found != nil {
				return found
			}
		}
	}
	return nil
}

// resolveRust finds the folder of a path. A module "a::b" is in a/b.rs or a/b/mod.rs below the
// folder of its crate's root file.
func (x *index) resolveRust(file, imported string) []target {
	segments := strings.Split(imported, "::")
	folder := path.Dir(file)
	stem := strings.TrimSuffix(path.Base(file), ".rs")
	inside := folder // what modules of this file are below
	if stem != "mod" && stem != "lib" && stem != "main" {
		inside = path.Join(folder, stem)
	}
	var base string
	switch first := segments[0]; first {
	case "mod", "self":
		base = inside
	case "super":
		base = path.Dir(inside)
		for len(segments) > 1 && segments[1] == "super" {
			base, segments = path.Dir(base), segments[1:]
		}
	case "crate":
		base = x.crateOf(folder)
	default:
		crate, ok := x.named.Rust[first]
		if !ok {
			return nil
		}
		base = path.Join(crate, "src")
	}
	return x.rustModule(base, segments[1:])
}

// rustModule follows the segments of a path as far as there are files for them.
func (x *index) rustModule(base string, segments []string) []target {
	for length := len(segments); length >= 0; length-- {
		at := path.Join(base, path.Join(segments[:length]...))
		switch {
		case x.files[path.Join(at, "mod.rs")]:
			return x.findFile(path.Join(at, "mod.rs"))
		case length == 0 && x.files[path.Join(at, "lib.rs")]:
			return x.findFile(path.Join(at, "lib.rs"))
		case length == 0 && x.folders[at]:
			return x.findFolder(at)
		case x.files[at+".rs"]:
			return x.findFile(at + ".rs")
		}
	}
	return nil
}

func (x *index) crateOf(folder string) string {
	for at := folder; ; at = path.Dir(at) {
		if _, ok := x.crates[at]; ok || at == "." || at == "/" {
			return at
		}
	}
}

func (x *index) resolveInclude(file, included string) []target {
	for _, at := range []string{path.Join(path.Dir(file), included), included} {
		if found := x.findFile(at); found != nil {
			return found
		}
	}
	return nil
}

func (x *index) resolveRequire(file, required string) []target {
	if strings.HasPrefix(required, ".") {
		at := path.Join(path.Dir(file), required)
		if found := x.findFile(at); found != nil {
			return found
		}
		return x.findFile(at + ".rb")
	}
	if at, ok := x.ruby[strings.TrimSuffix(required, ".rb")]; ok {
		return []target{fileTarget(at)}
	}
	return nil
}
