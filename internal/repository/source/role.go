package source

import (
	"path"
	"strings"
)

// Role is what a file of a repository is for.
type Role string

// The roles. What ships is what people use who don't work on the repository.
const (
	Shipped Role = "shipped"
	Example Role = "example"
	Test    Role = "test"
	Tool    Role = "tool" // what the repository is built, generated, checked or described with
)

// roleFolders are the folders whose files have a role, wherever they are.
var roleFolders = map[string]Role{
	"example": Example, "examples": Example, "_examples": Example, "demo": Example, "demos": Example, "sample": Example, "samples": Example,
	"tools": Tool, "scripts": Tool, "hack": Tool, "gen": Tool, "generator": Tool, "generators": Tool, "codegen": Tool, "benchmarks": Tool, "fuzz": Tool,
}

// rootFolders are those that have one at a repository's root alone: deeper they may be
// packages like any other.
var rootFolders = map[string]Role{
	"doc": Tool, "docs": Tool, "documentation": Tool, "website": Tool, "misc": Tool, "contrib": Tool, "ci": Tool, "tool": Tool, "script": Tool,
	"bench": Tool, "benchmark": Tool, "tutorial": Example, "tutorials": Example, "doctests": Test,
}

// toolFiles are files that are run to build, check or describe a repository.
var toolFiles = map[string]bool{
	"setup.py": true, "conf.py": true, "noxfile.py": true, "tasks.py": true, "gulpfile.js": true, "gruntfile.js": true, "rakefile": true, "build.rs": true,
}

// RoleOf tells what a file is for, by its path.
func RoleOf(file string) Role {
	if IsTest(file) {
		return Test
	}
	name := strings.ToLower(path.Base(file))
	if stem := strings.TrimSuffix(name, path.Ext(name)); toolFiles[name] || LanguageOf(file).Imports() && strings.HasSuffix(stem, ".config") {
		return Tool
	}
	folders := strings.Split(path.Dir(file), "/")
	if role, ok := rootFolders[strings.ToLower(folders[0])]; ok {
		return role
	}
	for _, folder := range folders {
		if role, ok := roleFolders[strings.ToLower(folder)]; ok {
			return role
		}
		if folder != "." && (folder[0] == '.' || folder[0] == '_' && LanguageOf(file) == Go) {
			return Tool
		}
	}
	return Shipped
}
