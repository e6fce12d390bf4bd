package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/inspect/inspecttest"
	"github.com/cairn-bot/cairn/internal/inspect/project"
)

func TestFindPages(t *testing.T) {
	pages := project.FindPages([]string{
		"android/app/X.component.js", "src/pages/Main/Main.component.js", "src/pages/Main/Main.script.js", "src/pages/Main/Main.style.js",
		"src/pages/Main/Main.styles.ts", "src/pages/Main/Main.variables.tsx", "src/pages/about/about.component.tsx", "src/partials/nav/nav.component.js",
		"src/prefabs/map/map.component.jsx", "src/pages/Main/Main.component.css",
	})
	var got []string
	for _, page := range pages {
		got = append(got, fmt.Sprintf("%s %s %d", page.Kind, page.Name, len(page.Files())))
	}
	if want := "page about 1, page Main 5, partial nav 1, prefab map 1"; strings.Join(got, ", ") != want {
		t.Errorf("got %s", strings.Join(got, ", "))
	}
	if page, ok := project.Named(pages, "MAIN"); !ok || page.Name != "Main" {
		t.Errorf("%+v", page)
	}
	shared := project.FindShared([]string{"app.style.js", "src/app.variables.js", "theme/a/android/style.js", "theme/a/ios/style.js", "lib/style.js"})
	if shared.Variables != "src/app.variables.js" || !slices.Equal(shared.Styles, []string{"app.style.js", "theme/a/android/style.js"}) {
		t.Errorf("%+v", shared)
	}
}

// readShop reads the page Main of the shop, with its partial.
func readShop(t *testing.T) *project.Sources {
	t.Helper()
	root := filepath.Join(inspecttest.Write(t, 0), "shop")
	var files []string
	contents := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name := strings.TrimPrefix(path, root+string(filepath.Separator))
		files, contents[filepath.ToSlash(name)] = append(files, filepath.ToSlash(name)), string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	reader, pages := project.NewReader(), project.FindPages(files)
	main, _ := project.Named(pages, "Main")
	return reader.Read(main, reader.PartsOf(main.Component, contents[main.Component], pages), project.FindShared(files), contents)
}

func TestTheMappersOfAPage(t *testing.T) {
	shop := readShop(t)
	var relations []string
	for _, relation := range shop.Relations() {
		relations = append(relations, fmt.Sprintf("%s:%d %s", filepath.Base(relation.From), relation.Line, filepath.Base(relation.To)))
	}
	if want := "Main.component.js:14 Main.script.js, Main.component.js:15 Main.style.js, Main.component.js:16 Main.variables.js"; strings.Join(relations, ", ") != want {
		t.Errorf("relations %s", strings.Join(relations, ", "))
	}
	locations := shop.Widgets()
	for meant, want := range map[string]string{
		"button2": "button2", "Button 2": "button2", "save order": "button1", "Save order button": "button1", "tabbar": "mobile_tabbar1", "log": "anchor1", "none": "", "": "",
	} {
		found := ""
		if matches := project.Find(locations, meant); len(matches) == 1 {
			found = matches[0].Widget
		}
		if found != want {
			t.Errorf("%q is %q, want %q", meant, found, want)
		}
	}
	for _, style := range shop.Styles("button1") {
		if style.Name == "borderRadius" && style.Wins != (style.Class == "btn-primary") {
			t.Errorf("the page's class should win over the theme: %+v", style)
		}
	}
	if near := project.IsNear("buton2", "button2") && !project.IsNear("button2", "button3") && !project.IsNear("x", "y"); !near {
		t.Error("slips are told apart wrongly")
	}
	if nearest := project.Nearest("chekout", []string{"Main", "Login", "Checkout"}); nearest[0] != "Checkout" {
		t.Errorf("nearest %v", nearest)
	}
}
