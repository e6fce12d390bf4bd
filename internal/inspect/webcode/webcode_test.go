package webcode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/inspect/project"
	"github.com/cairn-bot/cairn/internal/inspect/webcode"
	"github.com/cairn-bot/cairn/internal/repository"
)

var shop = map[string]string{
	"web/src/checkout.jsx": `import { send } from './api/send';
import * as api from './api/items';

function handleSave(order) {
  send('/api/orders', order);
  api.removeItem(order.id);
}

export const Checkout = ({ order }) => (
  <form>
    <button onClick={() => handleSave(order)}>Save</button>
    <button onClick={async () => {
      const response = await fetch("/api/payments?x=1");
      axios.put('/api/unknown', {});
    }}>Pay</button>
  </form>
);
`,
	"web/src/api/send.js":  "export function send(path, body) {\n  return fetch(path, { method: 'POST', body });\n}\n",
	"web/src/api/items.ts": "export const removeItem = (id: string) => {\n  return client.delete(`/api/items/${id}`);\n};\n",
	"server/main.go": `package main

func routes(mux *http.ServeMux) {
	mux.HandleFunc("POST /api/orders", createOrder)
	mux.HandleFunc("GET /api/orders", listOrders)
	mux.HandleFunc("DELETE /api/items/{id}", removeItem)
}
`,
	"server/pay.py":      "@app.get('/api/payments')\ndef pay(): pass\n# see /api/payments\n",
	".github/CODEOWNERS": "* @everyone\n/server/ @backend\nweb/src/*.jsx @web @ann # the pages\n*.ts @types\n",
}

func TestFollow(t *testing.T) {
	root := t.TempDir()
	for name, content := range shop {
		name = filepath.Join(root, "shop", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	checkout, err := repository.NewOpener(repository.Options{Roots: []string{root}}).Open(t.Context(), "./shop")
	if err != nil {
		t.Fatal(err)
	}
	defer checkout.Close()
	for _, test := range []struct {
		source string
		line   int
		want   string
	}{
		{"src/checkout.jsx", 4, "POST /api/orders at web/src/api/send.js:2 by server/main.go:4; DELETE /api/items/${id} at web/src/api/items.ts:2 by server/main.go:6; owners @web @ann"},
		{"checkout.jsx", 11, "POST /api/orders at web/src/api/send.js:2 by server/main.go:4; DELETE /api/items/${id} at web/src/api/items.ts:2 by server/main.go:6; owners @web @ann"},
		{"shop/web/src/checkout.jsx", 12, "GET /api/payments?x=1 at web/src/checkout.jsx:13 by server/pay.py:1; PUT /api/unknown at web/src/checkout.jsx:14 by ; owners @web @ann"},
		{"api/items.ts", 1, "DELETE /api/items/${id} at web/src/api/items.ts:2 by server/main.go:6; owners @types"},
	} {
		trace, err := webcode.Follow(checkout, test.source, test.line)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, step := range trace.Steps {
			switch step.Kind {
			case project.Requests:
				got = append(got, fmt.Sprintf("%s at %s:%d by ", step.Object, step.File, step.Line))
			case project.Answers:
				got[len(got)-1] += fmt.Sprintf("%s:%d", step.File, step.Line)
			}
		}
		got = append(got, "owners "+strings.Join(trace.Owners, " "))
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%s:%d\n got %s %q\nwant %s", test.source, test.line, strings.Join(got, "; "), trace.Problems, test.want)
		}
	}
	if _, err := webcode.Follow(checkout, "../../etc/passwd", 1); err == nil {
		t.Error("a file outside the project is followed")
	}
}
