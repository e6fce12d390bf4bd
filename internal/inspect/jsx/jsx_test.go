package jsx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-bot/cairn/internal/inspect/jsx"
)

// page is written as the generator of mobile apps writes pages.
const page = `import React from 'react';
import WmButton from '@wavemaker/app-rn-runtime/components/basic/button/button.component';
import * as Ui from './ui';
import addPageScript from './Shop.script';

const PC_Row1 = React.memo(({ $item, fragment }) => {
  return (
    <WmLabel
      name="label1"
      caption={$item.title}
      width={1000}
      listener={fragment}></WmLabel>
  );
});

const PC_Content1 = ({ fragment }) => {
  return (
    <>
      <WmList
        name="list1"
        renderItem={($item, $index, list) => (
          <PC_Row1 $item={$item} fragment={fragment} />
        )}></WmList>
      😀 <Ui.Card name="card1" /> {fragment.open && <WmButton
        caption="It's &quot;Next&quot;"
        name="button2"
        show={false}
        styles={{ root: { backgroundColor: '#fff', margin: [1, -2] }, text: {} }}
        onTap={($event, widget) => {
          fragment.button2Tap($event, widget);
          if (fragment.ready) fragment.Actions.goToPage_T.invoke({ data: { id: 1 } });
        }}></WmButton>}
    </>
  );
};

export default class ShopPage extends BasePage {
  components;
  init() {
    this.name = 'Shop';
    addPageScript(this.App,
      this.proxy);
  }
  renderPage() {
    return <PC_Content1 fragment={this.proxy?.inner ?? this.proxy} />;
  }
}
`

func parse(t testing.TB, name, source string) *jsx.File {
	t.Helper()
	file, wrong := jsx.Parse(name, []byte(source))
	for _, one := range wrong {
		t.Fatal(one)
	}
	return file
}

func describe(file *jsx.File) string {
	var b strings.Builder
	for _, e := range file.Elements {
		parent, function := "-", "-"
		if e.Parent != nil {
			parent = e.Parent.Tag
		}
		if e.Function != nil {
			function = e.Function.Name
		}
		fmt.Fprintf(&b, "element %d %s %q in %s of %s\n", e.Line, e.Tag, e.Text("name"), parent, function)
	}
	for _, f := range file.Functions {
		fmt.Fprintf(&b, "function %d-%d %s(%s)\n", f.Line, f.End, f.Name, strings.Join(f.Params, " "))
		for _, c := range f.Calls {
			fmt.Fprintf(&b, "  call %d %s/%d %t %t\n", c.Line, c.Path, len(c.Arguments), c.Conditional, c.Deferred)
		}
		for _, a := range f.Assigns {
			fmt.Fprintf(&b, "  assign %d %s = %s %s\n", a.Line, a.Path, a.Value.Kind, a.Value.Text)
		}
	}
	for _, i := range file.Imports {
		fmt.Fprintf(&b, "import %d %s\n", i.Line, i.From)
	}
	return b.String()
}

// TestTheBeginningOfAFileHasItsLine reads what stands there, which the library for source maps
// leaves out.
func TestTheBeginningOfAFileHasItsLine(t *testing.T) {
	for _, source := range []string{
		"function save() {\n  fetch('/a');\n}\n", "async function save() {\n  fetch('/a');\n}\nsave();\n", "export default function save() {\n  fetch('/a');\n}\n",
	} {
		file := parse(t, "save.js", source)
		if len(file.Functions) != 1 || file.Functions[0].Line != 1 || file.Functions[0].End != 3 {
			t.Errorf("%q: %+v", source, file.Functions)
		}
	}
}

func TestElementsAndFunctionsHaveTheirLines(t *testing.T) {
	file := parse(t, "src/pages/Shop/Shop.component.js", page)
	const want = `element 8 WmLabel "label1" in - of PC_Row1
element 18 Fragment "" in - of PC_Content1
element 19 WmList "list1" in Fragment of PC_Content1
element 22 PC_Row1 "" in WmList of PC_Content1
element 24 Ui.Card "card1" in Fragment of PC_Content1
element 24 WmButton "button2" in Fragment of PC_Content1
element 45 PC_Content1 "" in - of ShopPage.renderPage
function 6-14 PC_Row1($item fragment)
function 16-35 PC_Content1(fragment)
  call 30 fragment.button2Tap/2 true true
  call 31 fragment.Actions.goToPage_T.invoke/1 true true
function 39-43 ShopPage.init()
  call 41 addPageScript/2 false false
  assign 40 this.name = string Shop
function 44-46 ShopPage.renderPage()
import 1 react
import 2 @wavemaker/app-rn-runtime/components/basic/button/button.component
import 3 ./ui
import 4 ./Shop.script
`
	if got := describe(file); !equalButUnused(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	button := file.Elements[5]
	if button.Text("caption") != `It's "Next"` || file.Elements[0].Text("caption") != "" {
		t.Errorf("caption %q", button.Text("caption"))
	}
	width, _ := file.Elements[0].Prop("width")
	show, _ := button.Prop("show")
	if width.Kind != jsx.Number || width.Text != "1000" || show.Kind != jsx.Boolean || show.Text != "false" {
		t.Errorf("width %+v, show %+v", width, show)
	}
	styles, _ := button.Prop("styles")
	root, _ := styles.Get("root")
	color, _ := root.Get("backgroundColor")
	margin, _ := root.Get("margin")
	if color.Text != "#fff" || color.Line != 28 || len(margin.Items) != 2 || margin.Items[1].Text != "-2" {
		t.Errorf("styles %+v", styles)
	}
	tap, ok := button.Prop("onTap")
	if !ok || tap.Kind != jsx.Func || len(tap.Function.Calls) != 2 || tap.Function.Calls[0].Deferred || tap.Line != 29 {
		t.Errorf("onTap %+v", tap)
	}
}

// equalButUnused compares two descriptions; esbuild leaves imports out that nothing uses.
func equalButUnused(got, want string) bool {
	for _, line := range strings.Split(want, "\n") {
		if !strings.Contains(got, line) {
			return false
		}
	}
	return true
}

func TestScriptsAndObjects(t *testing.T) {
	file := parse(t, "Shop.script.js", `export default function addPageScript(App, Page) {
  let flag = false;
  function checkWin(n) {
    setTimeout(function () {
      alert('won');
    }, 2000);
    Page.Widgets.label3.caption = flag ? 'A' : 'B';
    Page.Widgets['label4'].show = false;
    Page.Widgets[n].color = 'red';
    flag = true;
  }
  Page.button2Tap = async function ($event, widget) {
    const answer = await fetch('/api/orders', { method: 'POST' });
    checkWin(answer?.n);
  };
}
`)
	const want = `function 1-16 addPageScript(App Page)
  assign 12 Page.button2Tap = function 
function 3-11 checkWin(n)
  call 4 setTimeout/2 false false
  call 5 alert/1 false true
  assign 7 Page.Widgets.label3.caption = other flag?"A":"B"
  assign 8 Page.Widgets.label4.show = boolean false
  assign 9 Page.Widgets[].color = string red
  assign 10 flag = boolean true
function 12-15 Page.button2Tap($event widget)
  call 13 fetch/2 false false
  call 14 checkWin/1 false false
`
	if got := describe(file); !strings.Contains(got, "call 5 alert/1 false true") || !equalButUnused(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if file.Default.Kind != jsx.Func || file.Default.Function.Name != "addPageScript" {
		t.Errorf("default %+v", file.Default)
	}

	variables := parse(t, "Shop.variables.ts", `export default (Page: any) => {
  return { Actions: { go: new NavigationAction({ name: 'go', paramProvider: () => ({ pageName: 'T' }) }) } };
};
`)
	if variables.Default.Kind != jsx.Func || variables.Default.Function.Name != "default" {
		t.Errorf("default %+v", variables.Default)
	}
	styles := parse(t, "Shop.style.js", "export default {\n  'app-list': { root: { width: '1e3' } },\n  box: { ...other }\n};\n")
	if list, ok := styles.Default.Get("app-list"); !ok || list.Line != 2 || styles.Default.Fields[1].Line != 3 {
		t.Errorf("styles %+v", styles.Default)
	}
	if empty := parse(t, "empty.js", " \n"); empty.Default.Kind != "" {
		t.Errorf("empty: %+v", empty)
	}
}

func TestMistakesHaveTheirLines(t *testing.T) {
	for source, want := range map[string]string{
		"let a = 1;\nlet b = ;\n":                         "a.jsx:2: Unexpected \";\"",
		"let a = 1;\nlet a = 2;\nlet a = 3;\n":            "a.jsx:2: The symbol \"a\" has already been declared; a.jsx:3: The symbol \"a\" has already been declared",
		"const x = <A>\n  <B>\n</A>;\n":                   "a.jsx:3: Unexpected closing \"A\" tag does not match opening \"B\" tag; a.jsx:4: Unexpected end of file before a closing \"A\" tag",
		strings.Repeat("[", 300):                          "a.jsx:1: nested deeper than the 250 levels that are read: split it into smaller components or functions",
		"\n" + strings.Repeat("a=>", 300):                 "a.jsx:2: nested deeper than the 250 levels that are read: split it into smaller components or functions",
		strings.Repeat("<a>", 300):                        "a.jsx:1: nested deeper than the 250 levels that are read: split it into smaller components or functions",
		"\n" + nestFunctions(101):                         "a.jsx:2: functions and blocks are nested deeper than the 100 levels that are read: split the function",
		strings.Repeat("for(let a of b){", 101):           "a.jsx:1: functions and blocks are nested deeper than the 100 levels that are read: split the function",
		"const a = <p>'{" + nestFunctions(301) + "'}</p>": "a.jsx:1: more than the 200 functions in strings and comments that are read: move them to another file",
		"a = /'/;/[/*]/;" + nestFunctions(301) + "/*/":    "a.jsx:1: more than the 200 functions in strings and comments that are read: move them to another file",
		strings.Repeat("[]\n", 20_001):                    "a.jsx: more than the 20000 brackets that are read",
		strings.Repeat("// \n", jsx.MaxBytes/4) + "\n":    "a.jsx: larger than the 256 KiB that are read",
	} {
		_, wrong := jsx.Parse("a.jsx", []byte(source))
		var got []string
		for _, one := range wrong {
			got = append(got, one.Error())
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%.30q: %q, want %q", source, got, want)
		}
	}
}

func nestFunctions(n int) string {
	return strings.Repeat("function f(){", n) + strings.Repeat("}", n)
}

func TestFilesWithinLimitsAreRead(t *testing.T) {
	for name, source := range map[string]string{
		"functions side by side": strings.Repeat("function f(a) { if (a) { return () => { f({b: {c: a}}); }; } }\n", 1_000),
		"nested functions":       nestFunctions(100),
		"objects":                "export default " + strings.Repeat("{a:", 200) + "1" + strings.Repeat("}", 200),
		"messages":               "export default [" + strings.Repeat("'Hello {name} (you)',\n", 2_000) + "]",
		"comments":               strings.Repeat("// adds (a), see {@link b}\n", 150),
	} {
		if _, wrong := jsx.Parse("a.js", []byte(source)); len(wrong) > 0 {
			t.Errorf("%s: %v", name, wrong[0])
		}
	}
}

// FuzzParse checks that every place is one of the source, whatever is read.
func FuzzParse(f *testing.F) {
	f.Add("a.jsx", page)
	f.Add("a.ts", "enum A { B }\nexport default <T,>(x: T) => x satisfies T;\n@d class C { static { f() } #p = 1 }")
	f.Add("a.js", "import('x').then(m => m.y`z${1}`);\nfor await (const x of y) {}\nlabel: while (1) break label")
	f.Add("a.tsx", "\uFEFFvar \u00e9 = <a.b c:d='é'>{...x}{/* */}</a.b>;\r\nexport * from 'y'")
	f.Fuzz(func(t *testing.T, name, source string) {
		if !jsx.Reads(name) {
			name = "a.tsx"
		}
		file, wrong := jsx.Parse(name, []byte(source))
		if (file == nil) != (len(wrong) > 0) {
			t.Fatalf("file %v, mistakes %v", file, wrong)
		}
		if file == nil {
			return
		}
		for _, e := range file.Elements {
			if e.Line < 1 || e.Line > file.Lines() || e.Tag == "" {
				t.Errorf("element %s at line %d of %d", e.Tag, e.Line, file.Lines())
			}
		}
		for _, function := range file.Functions {
			if function.Line < 1 || function.End > file.Lines() {
				t.Errorf("function %s at lines %d-%d of %d", function.Name, function.Line, function.End, file.Lines())
			}
			for _, call := range function.Calls {
				if call.Line < 1 || call.Line > file.Lines() {
					t.Errorf("call %s at line %d of %d", call.Path, call.Line, file.Lines())
				}
			}
		}
	})
}
