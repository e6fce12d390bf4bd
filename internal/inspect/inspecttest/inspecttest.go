// Package inspecttest has a project as generators of mobile apps write them, and what is
// recorded of such an app, for tests.
package inspecttest

import (
	"archive/zip"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The shop has two pages and a partial. The script of its page Checkout has a mistake in line 3.
//
//go:embed shop
var files embed.FS

// Write writes the project into a folder "shop" of a new one, which it returns, with extra pages
// like Main beside it: Main2 and so on.
func Write(t testing.TB, extra int) string {
	t.Helper()
	root := t.TempDir()
	err := fs.WalkDir(files, "shop", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		for i := range extra + 1 {
			copied := name
			if i > 0 {
				copied = strings.ReplaceAll(name, "Main", fmt.Sprintf("Main%d", i+1))
			}
			if i > 0 && copied == name {
				continue
			}
			path := filepath.Join(root, filepath.FromSlash(copied))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// Tree is what the shop tells of its widgets with its page Main open. selected is the name of
// the widget that is selected, "" for none; with details, properties and styles stand in it.
func Tree(selected string, details bool) map[string]any {
	widget := func(id any, tag, name string, children ...any) map[string]any {
		made := map[string]any{"id": id, "tagName": tag, "name": name, "children": children}
		if name == selected {
			made["selected"] = true
		}
		if name == "button2" && details {
			maps.Copy(made, Detail())
		}
		return made
	}
	return widget(1, "WmPage", "mainpage",
		widget("2", "WmPageContent", "page_content1", widget(3, "WmList", "list1"), widget(4, "WmButton", "button1"), widget(5, "WmButton", "button2"), widget(6, "WmLabel", "label3")),
		widget(7, "WmTabbar", "mobile_tabbar1"))
}

// Detail is what the shop tells of its button2, whose id is 5.
func Detail() map[string]any {
	return map[string]any{
		"properties": map[string]any{"caption": "Next", "disabled": false, "token": "s3cret"},
		"styles": map[string]any{"root": map[string]any{"__trace": []any{
			map[string]any{"name": "inline", "source": "inline", "value": map[string]any{"backgroundColor": "#888888"}},
			map[string]any{"name": "btn-primary", "source": "Main.style.js", "value": map[string]any{"backgroundColor": "#4263eb"}},
		}}},
	}
}

// Session is a session file of the shop with its page Main open. selected is the name of the
// widget that is selected, "" for none.
func Session(t testing.TB, selected string) []byte {
	t.Helper()
	return Zip(t, map[string]any{
		"componentTree": Tree(selected, true),
		"timelineLogs": []any{
			map[string]any{"name": "PAGE_READY", "data": map[string]any{"name": "Login"}, "startTime": 1},
			map[string]any{"name": "PAGE_READY", "data": map[string]any{"name": "Main"}, "startTime": 2},
		},
		"requests": []any{
			map[string]any{"name": "orders", "path": "https://shop.example/api/orders?key=s3cret", "method": "post", "status": 500, "req": map[string]any{"headers": map[string]any{"Authorization": "s3cret"}}},
			map[string]any{"name": "users", "path": "/api/users", "method": "get", "status": 200},
		},
		"logs":    []any{map[string]any{"type": "error", "message": "orders: no\nanswer", "date": 1}},
		"storage": map[string]any{"session": "s3cret"},
	})
}

// Zip makes a session file of what was recorded, by key.
func Zip(t testing.TB, recorded map[string]any) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := zip.NewWriter(&out)
	for key, value := range recorded {
		entry, err := writer.Create(key + ".json")
		if err != nil {
			t.Fatal(err)
		}
		text, ok := value.(string)
		if !ok {
			encoded, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			text = string(encoded)
		}
		if _, err := entry.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
