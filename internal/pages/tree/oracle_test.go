package tree_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/dop251/goja"
)

// node is the program that runs Lexical in place of goja: the engine that Lexical is tested
// with, and much faster.
var node = flag.String("tree.node", "", "path of Node.js, to run Lexical in")

// oracle is the real Lexical without a browser.
type oracle interface {
	// Normalize gives what Lexical makes of a page's JSON.
	Normalize(data []byte) ([]byte, error)
}

// newOracle starts the one that was asked for.
func newOracle(t testing.TB) oracle {
	t.Helper()
	if *node != "" {
		return newNodeOracle(t)
	}
	return newGojaOracle(t)
}

// gojaOracle runs Lexical in a JavaScript engine in Go.
type gojaOracle struct {
	mu        sync.Mutex
	normalize goja.Callable
	vm        *goja.Runtime
}

// compileOracle compiles the bundle once.
var compileOracle = sync.OnceValues(func() (*goja.Program, error) {
	source, err := os.ReadFile("testdata/lexical/oracle.js")
	if err != nil {
		return nil, err
	}
	return goja.Compile("oracle.js", string(source), false)
})

// shims are what Lexical expects of its surroundings.
const shims = `
	globalThis.self = globalThis;
	globalThis.queueMicrotask = (f) => { Promise.resolve().then(f); };
	globalThis.setTimeout = (f) => 0;
	globalThis.clearTimeout = () => {};
	globalThis.console = {log() {}, warn() {}, error() {}, info() {}};
`

func newGojaOracle(t testing.TB) *gojaOracle {
	t.Helper()
	program, err := compileOracle()
	if err != nil {
		t.Fatal(err)
	}
	vm := goja.New()
	if _, err := vm.RunString(shims); err != nil {
		t.Fatal(err)
	}
	if _, err := vm.RunProgram(program); err != nil {
		t.Fatal(err)
	}
	normalize, ok := goja.AssertFunction(vm.Get("normalize"))
	if !ok {
		t.Fatal("the bundle has no function normalize: run make lexical")
	}
	return &gojaOracle{normalize: normalize, vm: vm}
}

func (o *gojaOracle) Normalize(data []byte) (normalized []byte, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	value, err := o.normalize(goja.Undefined(), o.vm.ToValue(string(data)))
	if err != nil {
		return nil, fmt.Errorf("lexical: %w", err)
	}
	return []byte(value.String()), nil
}

// nodeOracle runs Lexical in a process of Node.js, which reads a page and writes it a line each.
type nodeOracle struct {
	in  io.Writer
	out *bufio.Reader
}

const nodeProgram = `
	require(process.argv[1]);
	require('readline').createInterface({input: process.stdin}).on('line', (line) => {
		let reply;
		try { reply = {page: globalThis.normalize(JSON.parse(line))}; } catch (error) { reply = {error: String(error)}; }
		process.stdout.write(JSON.stringify(reply) + '\n');
	});
`

func newNodeOracle(t testing.TB) *nodeOracle {
	t.Helper()
	process := exec.Command(*node, "-e", nodeProgram, "./testdata/lexical/oracle.js")
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := process.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &nodeOracle{in, bufio.NewReader(out)}
}

func (o *nodeOracle) Normalize(data []byte) ([]byte, error) {
	if err := json.NewEncoder(o.in).Encode(string(data)); err != nil {
		return nil, err
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var reply struct{ Page, Error string }
	if err := json.Unmarshal(line, &reply); err != nil {
		return nil, err
	}
	if reply.Error != "" {
		return nil, fmt.Errorf("lexical: %s", reply.Error)
	}
	return []byte(reply.Page), nil
}
