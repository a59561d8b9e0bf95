package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/admin/client"
	"github.com/sluicehq/sluice/controller"
)

// watcher is a screen that ends the watching after some lines with a text.
type watcher struct {
	strings.Builder
	text   string
	times  int
	enough context.CancelFunc
}

func (w *watcher) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Count(w.String(), w.text) >= w.times {
		w.enough()
	}
	return n, err
}

func TestStatusIsWatchedUntilItIsInterrupted(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 2 { // away for a moment
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(controller.Status{Version: "v1", Mappings: []controller.MappingStatus{{Name: "orders", Ready: true}}})
	}))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out := &watcher{text: "MAPPING ", times: 2, enough: cancel}
	o := statusOptions{asking: asking{output: "text"}, every: time.Millisecond}
	if err := o.follow(ctx, out, c); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "MAPPING ") != 2 || !strings.Contains(text, "it answers 502") {
		t.Errorf("got:\n%s", text)
	}
	server.Close()
	if err := o.follow(t.Context(), out, c); err == nil || !strings.Contains(err.Error(), "is `sluice run` up?") {
		t.Errorf("nobody was there, and follow said: %v", err)
	}
}
