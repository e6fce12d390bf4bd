package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/repository/manifest"
)

// written shows a manifest: its name, then its dependencies as name@version/scope:line.
func written(m manifest.Manifest) string {
	parts := []string{m.Name}
	if m.Version+m.Requires != "" {
		parts = append(parts, strings.TrimSpace("is "+m.Version+" for "+m.Requires))
	}
	for _, d := range m.Dependencies {
		one := d.Name + "@" + d.Version
		if d.Scope != "" {
			one += "/" + string(d.Scope)
		}
		if d.Line > 0 {
			one += fmt.Sprint(":", d.Line)
		}
		parts = append(parts, one)
	}
	for _, p := range m.Programs {
		verb := "runs "
		if p.Library {
			verb = "gives "
		}
		parts = append(parts, fmt.Sprintf("%s%s=%s:%d", verb, p.Name, p.Paths[0], p.Line))
	}
	if len(m.Workspace) > 0 {
		parts = append(parts, "shares its lock with "+strings.Join(m.Workspace, " "))
	}
	return strings.Join(parts, " | ")
}

var examples = []struct{ file, content, want string }{
	{"go.mod", "module example.com/a\n\ngo 1.26\n\nrequire (\n\tb.org/c v1.2.3\n\td.org/e v0.1.0 // indirect\n)\n", "example.com/a | is  for Go 1.26 | b.org/c@v1.2.3:6 | d.org/e@v0.1.0/indirect:7"},
	{"requirements-dev.txt", "# no\nflask==2.0 ; python_version > '3'\n-r other.txt\nrequests[socks] >= 2, < 3  # c\nbare\nurl @ https://u:p@x/y\n", " | bare@:5 | flask@2.0:2 | requests@>= 2, < 3:4 | url@from an address:6"},
	{"pyproject.toml", "[project]\nname = \"a\"\ndependencies = [\"b>=1\", \"c\"]\n[project.optional-dependencies]\nx = [\"d~=2\"]\n[dependency-groups]\ndev = [\"e\", {include-group = \"f\"}]\n", "a | b@>=1:3 | c@:3 | d@~=2/optional:5 | e@/development:7"},
	{"x/pyproject.toml", "[tool.poetry]\nname = \"a\"\n[tool.poetry.dependencies]\npython = \"^3\"\nb = \"^1\"\nc = {version = \"2\", optional = true}\n[tool.poetry.group.test.dependencies]\nd = \"*\"\n", "a | is  for Python ^3 | b@^1:5 | c@2/optional:6 | d@*/development:8"},
	{"Pipfile", "[packages]\na = \"*\"\n[dev-packages]\nb = {git = \"https://x\"}\n", " | a@*:2 | b@from git/development:4"},
	{"setup.cfg", "[metadata]\nname = a\n[options]\ninstall_requires =\n  b>=1\n  c\n[other]\n", "a | b@>=1:5 | c@:6"},
	{"poetry.lock", "[[package]]\nname = \"a\"\nversion = \"1\"\n[[package]]\nname = \"b\"\nversion = \"2\"\n", " | a@1 | b@2"},
	{"Pipfile.lock", `{"default":{"a":{"version":"==1"}},"develop":{"b":{"version":"==2"}}}`, " | a@1 | b@2/development"},
	{"package.json", "{\"name\":\"a\",\"main\":\"x.js\",\"bin\":{\"a\":\"b.js\"},\n\"dependencies\":{\"b\":\"^1\",\n\"g\":\"git+https://u:p@x/y\"},\"devDependencies\":{\n\"@s/c\":\"2\"}}", "a | @s/c@2/development:4 | b@^1:2 | g@from an address:3 | gives a=x.js:1 | runs a=b.js:1"},
	{"package-lock.json", `{"packages":{"":{"version":"0"},"node_modules/a":{"version":"1"},"node_modules/a/node_modules/b":{"version":"9"},"node_modules/@s/c":{"version":"2","dev":true}}}`, " | @s/c@2/development | a@1"},
	{"old/package-lock.json", `{"dependencies":{"a":{"version":"1"}}}`, " | a@1"},
	{"yarn.lock", "# yarn\n\n\"@s/a@^1\", \"@s/a@^1.1\":\n  version \"1.2\"\n\nb@npm:^2:\n  version: 2.3\n", " | @s/a@1.2 | b@2.3"},
	{"pnpm-lock.yaml", "lockfileVersion: '9.0'\npackages:\n  '@s/a@1.2.0':\n    resolution: {}\n  /b/2.0.0(x@1):\n    dev: true\n", " | @s/a@1.2.0 | b@2.0.0"},
	{"Cargo.toml", "[package]\nname = \"a\"\ndescription = \"d\"\n[dependencies]\nb = \"1\"\nc = {version = \"2\", optional = true}\n[dev-dependencies]\nd = {path = \"../d\"}\n[target.'cfg(unix)'.dependencies]\ne = \"3\"\n[[bin]]\nname = \"x\"\npath = \"src/x.rs\"\n", "a | b@1:5 | c@2/optional:6 | d@from ./../d/development:8 | e@3:10 | runs x=src/x.rs:13"},
	{"Cargo.lock", "version = 3\n[[package]]\nname = \"a\"\nversion = \"1\"\n", " | a@1"},
	{"pom.xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><project xmlns=\"http://maven.apache.org/POM/4.0.0\"><artifactId>a</artifactId><version>7</version>\n<parent><groupId>p</groupId><artifactId>q</artifactId><version>1</version></parent>\n<properties><v>2</v></properties><dependencyManagement><dependencies><dependency><groupId>m</groupId><artifactId>n</artifactId><version>5</version></dependency></dependencies></dependencyManagement>\n<dependencies><dependency><groupId>b</groupId><artifactId>cc</artifactId><version>${v}</version></dependency>\n<dependency><groupId>m</groupId><artifactId>n</artifactId><scope>test</scope></dependency></dependencies></project>", "a | is 7 for | b:cc@2:4 | m:n@5/test:5 | p:q@1/build:2"},
	{"build.gradle.kts", "dependencies {\n  implementation(\"a.b:c:1\")\n  testImplementation 'd:e:2'\n  api(platform(\"f:g:3\"))\n  implementation(project(\":x\"))\n}\n", " | a.b:c@1:2 | d:e@2/test:3 | f:g@3:4"},
	{"gradle.lockfile", "# no\na.b:c:1=compileClasspath\nempty=x\n", " | a.b:c@1"},
	{"gradle/libs.versions.toml", "[versions]\nv = \"2\"\n[libraries]\na = \"g:a:1\"\nb = {module = \"g:b\", version.ref = \"v\"}\nc = {group = \"g\", name = \"c\", version = \"3\"}\n", " | g:a@1:4 | g:b@2:5 | g:c@3:6"},
	{"Gemfile", "source 'x'\ngem 'a', '~> 1'\ngroup :development, :test do\n  gem \"b\"\nend\ngem 'c', group: :test\n", " | a@~> 1:2 | b@/development:4 | c@/test:6"},
	{"Gemfile.lock", "GEM\n  remote: x\n  specs:\n    a (1.0)\n      b (>= 1)\n    b (1.2)\n\nDEPENDENCIES\n    c (9)\n", " | a@1.0 | b@1.2"},
	{"x.gemspec", "Gem::Specification.new do |s|\n s.name = 'a'\n s.add_dependency 'b', '~> 1'\n s.add_development_dependency('c')\nend\n", "a | b@~> 1:3 | c@/development:4"},
	{"composer.json", "{\"name\":\"v/a\",\"require\":{\"php\":\">=8\",\n\"v/b\":\"^1\"},\"require-dev\":{\n\"v/c\":\"2\"}}", "v/a | is  for PHP >=8 | php@>=8:1 | v/b@^1:2 | v/c@2/development:3"},
	{"composer.lock", `{"packages":[{"name":"v/b","version":"1.1"}],"packages-dev":[{"name":"v/c","version":"2"}]}`, " | v/b@1.1 | v/c@2/development"},
	{"a.csproj", "<Project Sdk=\"x\"><ItemGroup>\n<PackageReference Include=\"A.B\" Version=\"1\" />\n<PackageReference Include=\"C\" PrivateAssets=\"all\"><Version>2</Version></PackageReference></ItemGroup></Project>", " | A.B@1:2 | C@2/build:3"},
	{"packages.config", "<packages><package id=\"A\" version=\"1\" /><package id=\"B\" version=\"2\" developmentDependency=\"true\" /></packages>", " | A@1:1 | B@2/development:1"},
	{"packages.lock.json", `{"dependencies":{"net8.0":{"A":{"resolved":"1"}}}}`, " | A@1"},
	{"Dockerfile", "# x\nARG V=1.26\nFROM --platform=linux golang:${V} AS build\nRUN a \\\n  && b\nFROM build AS t\nCOPY --from=build a b\nCOPY --from=busybox:1 a b\nFROM reg:5000/base@sha256:abc\nFROM scratch\nFROM $X\n", " | $X@:11 | busybox@1:8 | golang@1.26:3 | reg:5000/base@sha256:abc:9"},
	{"compose.yaml", "services:\n  a:\n    image: redis:8\n  b:\n    build: .\n", " | redis@8:3"},
	{"charts/a/Chart.yaml", "apiVersion: v2\nname: a\ndescription: |\n  chart\ndependencies:\n  - name: redis\n    version: ^1\n    repository: https://x\n", "a | redis@^1:6"},
	// The names of dependencies stand in other places of the file before their own.
	{"named/package.json", "{\"name\":\"a\",\"version\":\"1.2\",\"engines\":{\"node\":\">= 18\"},\n\"keywords\":[\"router\"],\n\"workspaces\":{\"packages\":[\"packages/*\"]},\n\"devDependencies\":{\"router\":\"^1\"},\n\"dependencies\":{\n\"router\":\"^2\"}}", "a | is 1.2 for Node >= 18 | router@^2:6 | router@^1/development:4 | gives a=index.js:0 | shares its lock with packages/*"},
	{"named/pyproject.toml", "[project]\nname = \"celery-app\"\nversion = \"3\" # celery\nrequires-python = \">=3.10\"\ndependencies = [\n  # celery\n  \"celery[redis]>=5\",\n]\n[project.scripts]\nflask = \"flask.cli:main\"\n[dependency-groups]\ndev = [\n  \"celery\",\n]\n[tool.uv.workspace]\nmembers = [\"apps/*\"]\n", "celery-app | is 3 for Python >=3.10 | celery@>=5:7 | celery@/development:13 | runs flask=flask/cli.py:10 | shares its lock with apps/*"},
	{"left/Cargo.toml", "[package]\nname = \"rg\"\nversion.workspace = true\nrust-version.workspace = true\n[workspace.package]\nversion = \"7\"\nrust-version = \"1.96\"\n", "rg | is 7 for Rust 1.96"},
	{"named/Cargo.toml", "[package]\nname = \"serde-app\"\nversion.workspace = true\nrust-version = \"1.80\"\n# serde\n[dependencies.serde]\nversion = \"1\"\n[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\nserde = {version = \"2\"}\n", "serde-app | is  for Rust 1.80 | serde@1:6 | serde@2:11 | shares its lock with crates/*"},
	{"named/composer.json", "{\"name\":\"v/b\",\n\"require-dev\":{\"v/c\":\"1\"},\n\"require\":{\n\"v/c\":\"2\"}}", "v/b | v/c@2:4 | v/c@1/development:2"},
	{"named/a.csproj", "<Project><!-- A.B --><PropertyGroup><Version>3</Version><TargetFramework>net8.0</TargetFramework></PropertyGroup>\n<ItemGroup>\n<PackageReference Include=\"A.B\" Version=\"1\" /></ItemGroup></Project>", " | is 3 for .NET net8.0 | A.B@1:3"},
	{"pnpm-workspace.yaml", "packages:\n  - 'web/*'\n", " | shares its lock with web/*"},
	{"anchors/compose.yaml", "x-image: &default ${IMAGE:-team/store:8.10.0}\nx-base: &base\n  image: team/base:3\nservices:\n  a:\n    image: *default\n  b:\n    <<: *base\n  c:\n    <<: [*none, *base]\n    image: ${OTHER:-redis}\n  d:\n    image: *none\n", " | redis@:11 | team/base@3:3 | team/store@8.10.0:6"},
	{"circle/compose.yaml", "services:\n  a: &a\n    <<: *b\n  b: &b\n    <<: *a\n    image: x:1\n", " | x@1:6"},
	{"Chart.lock", "dependencies:\n- name: redis\n  version: 1.2.3\n", " | redis@1.2.3:2"},
}

func TestParse(t *testing.T) {
	for _, test := range examples {
		m, err := manifest.Parse(test.file, []byte(test.content))
		if got := written(m); err != nil || got != test.want {
			t.Errorf("%s (%v):\n got %s\nwant %s", test.file, err, got, test.want)
		}
	}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	for _, file := range []string{
		"a/go.mod", "a/pyproject.toml", "a/package.json", "a/Cargo.lock", "a/pom.xml", "a/composer.lock", "a/Chart.yaml", "a/x.csproj", "README.md",
	} {
		if _, err := manifest.Parse(file, []byte("{[<\x00")); err == nil || !strings.Contains(err.Error(), "read "+file) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if manifest.Is("README.md") || !manifest.Is("deploy/Dockerfile.prod") || !manifest.Is("requirements/requirements.txt") {
		t.Error("manifests are not told by their names")
	}
}

// FuzzParse checks that any bytes are read, or refused, and that no name is without bounds.
func FuzzParse(f *testing.F) {
	for i, test := range examples {
		f.Add(uint8(i), []byte(test.content))
	}
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		m, err := manifest.Parse(examples[int(which)%len(examples)].file, content)
		if err != nil {
			return
		}
		for _, d := range m.Dependencies {
			if d.Name == "" || len(d.Name) > 210 || len(d.Version) > 210 || strings.Contains(d.Name+d.Version, "\n") || d.Line < 0 {
				t.Errorf("%s: %+v", m.Path, d)
			}
		}
	})
}
