package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is what the demo writes, readable while it runs.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until the screen shows the text.
func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	for began := time.Now(); !strings.Contains(s.String(), text); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%q is not shown:\n%s", text, s)
		}
	}
}

func options(records int, out *screen) Options {
	return Options{Records: records, Out: out, Listen: "127.0.0.1:0", Version: "test", Log: slog.New(slog.DiscardHandler)}
}

func TestDemoProvesItsPromises(t *testing.T) {
	for _, records := range []int{1, 10, 5000} {
		t.Run(fmt.Sprintf("with %d records", records), func(t *testing.T) {
			out := &screen{}
			if err := Run(t.Context(), options(records, out)); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for name, want := range map[string]string{
				"records": comma(int64(records)), "dead letters": "1", "order violations": "0", "lost": "0",
				"duplicates": "0", "not committed": "0", "content": "as it was sent", "poison record": `orders-\d+@\d+`,
			} {
				if !regexp.MustCompile(`(?m)^ *` + name + ` +` + want + `$`).MatchString(out.String()) {
					t.Errorf("%s is not %s:\n%s", name, want, out)
				}
			}
		})
	}
}

func TestDemoIsKeptUntilItIsInterrupted(t *testing.T) {
	out := &screen{}
	o := options(500, out)
	o.Keep = true
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o) }()
	out.await(t, "Running on")
	url := regexp.MustCompile(`http://127.0.0.1:\d+ `).FindString(out.String())
	if response, err := http.Get(strings.TrimSpace(url) + "/sluice/v1/status"); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("the admin API at %q: %v %v", url, response, err)
	}
	time.Sleep(300 * time.Millisecond) // so that some of the slow records come
	interrupt()
	if err := <-ended; err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(out.String(), "Nothing was lost, order held"); n != 2 {
		t.Errorf("proven %d times, want before and after:\n%s", n, out)
	}
}

func TestDemoEndsCleanlyWhenInterrupted(t *testing.T) {
	out := &screen{}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, options(10_000_000, out)) }()
	out.await(t, " produced, ")
	interrupt()
	if err := <-ended; !errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v, want ErrInterrupted", err)
	}
	if text := out.String(); !regexp.MustCompile(`order violations +0\n`).MatchString(text) || strings.Contains(text, "lost") {
		t.Errorf("the summary is not that of an interrupted run:\n%s", text)
	}
}

func TestBarsAreDrawnAndKept(t *testing.T) {
	out := &screen{}
	o := options(1000, out)
	o.Terminal = true
	if err := Run(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"orders produced", "orders settled", "1000 / 1000", "records/s", "Nothing was lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
}
