package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// Bounds of Chromium.
const (
	idleLimit   = 5 * time.Minute
	memoryLimit = 1 << 30
	memoryPause = 500 * time.Millisecond // between two measurements
	maxLooks    = 2
	// heapLimit is the memory for a page's scripts, in MiB.
	heapLimit = 256
)

// bypassNothing has Chromium use the proxy for addresses of this machine, too.
const bypassNothing = "<-loopback>"

// errMemory says why a look was given up.
var errMemory = errors.New("the page takes more memory than is allowed")

// chromium is a running Chromium with its proxy.
type chromium struct {
	session context.Context //nolint:containedctx // chromedp keeps the browser in it
	end     []context.CancelFunc
	proxy   *proxy
}

// Close ends Chromium; what goes on in it fails.
func (b *Browser) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.stop()
}

// stop ends Chromium, with b.mu held.
func (b *Browser) stop() error {
	if b.idle != nil {
		b.idle.Stop()
		b.idle = nil
	}
	if b.running == nil {
		return nil
	}
	stopped := b.running
	b.running = nil
	var err error
	if stopped.session.Err() == nil {
		err = chromedp.Cancel(stopped.session)
	}
	for _, end := range stopped.end {
		end()
	}
	return errors.Join(err, stopped.proxy.Close())
}

// Version starts Chromium, or connects to it, and gives its name and version.
func (b *Browser) Version(ctx context.Context) (string, error) {
	running, err := b.enter(ctx)
	if err != nil {
		return "", err
	}
	defer b.leave()
	_, product, _, _, _, err := cdpbrowser.GetVersion().Do(running.executor()) //nolint:contextcheck,dogsled // chromedp keeps the contexts of Chromium and its windows
	if err != nil {
		return "", fmt.Errorf("ask Chromium for its version: %w", err)
	}
	return product, nil
}

// enter waits for one of the looks that may go on at a time, and gives the running Chromium.
// leave has to be called once it is over.
func (b *Browser) enter(ctx context.Context) (*chromium, error) {
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.start(ctx); err != nil {
		<-b.slots
		return nil, err
	}
	b.looks++
	if b.idle != nil {
		b.idle.Stop()
		b.idle = nil
	}
	return b.running, nil
}

func (b *Browser) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	<-b.slots
	b.looks--
	if b.looks == 0 && b.running != nil {
		b.idle = time.AfterFunc(b.options.Idle, b.stopIdle)
	}
}

// stopIdle ends Chromium after a while without a look.
func (b *Browser) stopIdle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.looks == 0 {
		b.stop() //nolint:errcheck // it ends all the same, and nobody waits for it
	}
}

// start starts Chromium where none runs, with b.mu held.
func (b *Browser) start(ctx context.Context) error {
	if b.closed {
		return errors.New("the browser is closed")
	}
	if b.running != nil && b.running.session.Err() == nil {
		return nil
	}
	if err := b.stop(); err != nil { // what is left of one that broke down
		return err
	}
	proxy, err := startProxy(b.allowed)
	if err != nil {
		return err
	}
	allocator, end, err := b.allocate(ctx, proxy)
	if err != nil {
		return errors.Join(fmt.Errorf("start Chromium: %w", err), proxy.Close())
	}
	session, cancel := chromedp.NewContext(allocator, chromedp.WithErrorf(discard))
	started := &chromium{session: session, end: []context.CancelFunc{cancel, end}, proxy: proxy}
	if b.options.Remote == "" {
		err = chromedp.Run(session)
	} else if err = connect(session); err == nil {
		err = started.checkFlags() //nolint:contextcheck // chromedp keeps the contexts of Chromium and its windows
	}
	if err != nil {
		cancel()
		end()
		return errors.Join(fmt.Errorf("start Chromium: %w", err), proxy.Close())
	}
	b.running = started
	return nil
}

// allocate gives a chromedp allocator of a Chromium, which outlives the question that it is started
// for.
func (b *Browser) allocate(ctx context.Context, proxy *proxy) (context.Context, context.CancelFunc, error) {
	if b.options.Remote != "" {
		return b.allocateRemote(ctx)
	}
	program, err := b.findProgram()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.DisableGPU, chromedp.WindowSize(windowWidth, windowHeight),
		chromedp.ProxyServer(proxy.address()),
		chromedp.Flag("proxy-bypass-list", bypassNothing),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("js-flags", fmt.Sprintf("--max-old-space-size=%d", heapLimit)),
	)
	if b.options.NoSandbox {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, end := chromedp.NewExecAllocator(context.WithoutCancel(ctx), options...)
	return allocator, end, nil
}

// executor gives a context in which commands go to Chromium as a whole.
func (c *chromium) executor() context.Context {
	return cdp.WithExecutor(c.session, chromedp.FromContext(c.session).Browser)
}

// watchMemory ends Chromium where its processes take more than they may, until ctx ends. It tells
// whether it did.
func (b *Browser) watchMemory(ctx context.Context, c *chromium) (exceeded bool) {
	if b.options.Remote != "" { // its processes are not seen from here
		return false
	}
	ticker := time.NewTicker(memoryPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
		if processes, err := systeminfo.GetProcessInfo().Do(c.executor()); err == nil && sumMemory(processes) > b.options.MaxMemory { //nolint:contextcheck // chromedp keeps the contexts of Chromium and its windows
			for _, end := range c.end {
				end()
			}
			return true
		}
	}
}

// sumMemory is what processes take, in bytes, without what they share.
func sumMemory(processes []*systeminfo.ProcessInfo) int64 {
	var sum int64
	for _, process := range processes {
		sum += memoryOf(process.ID)
	}
	return sum
}

// memoryOf is what a process takes for itself, in bytes; 0 where the system does not tell.
func memoryOf(process int64) int64 {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process))
	if err != nil {
		return 0
	}
	var size, resident, shared int64
	if _, err := fmt.Sscan(string(content), &size, &resident, &shared); err != nil {
		return 0
	}
	return (resident - shared) * int64(os.Getpagesize())
}
