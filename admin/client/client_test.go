package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/admin"
	"github.com/sluicehq/sluice/admin/client"
	"github.com/sluicehq/sluice/controller"
	"github.com/sluicehq/sluice/record"
)

type source struct{}

func (source) Status() controller.Status {
	return controller.Status{Version: "v1", StartedAt: time.Unix(1, 0).UTC(), Mappings: []controller.MappingStatus{{Name: "orders"}}}
}

func (source) Explain(mapping string, p *record.TopicPartition) (controller.Explanation, error) {
	if mapping != "orders" {
		return controller.Explanation{}, fmt.Errorf("mapping %q: %w; there is: orders", mapping, controller.ErrNotFound)
	}
	e := controller.Explanation{Mapping: mapping, Summary: "all"}
	if p != nil {
		e.Summary = p.String()
	}
	return e, nil
}

func (source) Decisions(string) ([]controller.Decision, error) {
	return []controller.Decision{{From: 1, To: 2, Reason: "lag"}}, nil
}

func (source) Ready() (bool, []string) { return true, nil }

func ask(t *testing.T, h http.Handler) *client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnswers(t *testing.T) {
	c := ask(t, admin.New(source{}, http.NotFoundHandler(), slog.New(slog.DiscardHandler)))
	s, err := c.Status(t.Context())
	if err != nil || s.Version != "v1" || len(s.Mappings) != 1 || s.Mappings[0].Lag != nil {
		t.Errorf("%+v %v", s, err)
	}
	e, err := c.Explain(t.Context(), "orders", "")
	if err != nil || e.Summary != "all" {
		t.Errorf("%+v %v", e, err)
	}
	e, err = c.Explain(t.Context(), "orders", "orders-3")
	if err != nil || e.Summary != "orders-3" {
		t.Errorf("%+v %v", e, err)
	}
	d, err := c.Decisions(t.Context(), "a name with spaces & more")
	if err != nil || len(d) != 1 || d[0].Reason != "lag" {
		t.Errorf("%+v %v", d, err)
	}
	if _, err = c.Explain(t.Context(), "nope", ""); err == nil || err.Error() != `mapping "nope": not found; there is: orders` {
		t.Errorf("%v", err)
	}
}

func TestErrorsInWords(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + free.Addr().String()
	_ = free.Close()
	c, err := client.New(nobody)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Status(t.Context())
	if want := "no sluice at " + nobody + ": is `sluice run` up? (--endpoint-url names another address)"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}

	answer := func(code int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		})
	}
	for name, c := range map[string]struct {
		handler http.Handler
		want    string
	}{
		"another server":       {answer(200, "<html>"), "is not sluice, or not this version: its answer is not one"},
		"another server's 404": {answer(404, "not here"), "is not sluice, or not this version: it answers 404"},
		"a redirect":           {http.RedirectHandler("/login", http.StatusFound), "is not sluice, or not this version: it redirects"},
		"an error":             {answer(503, `{"error": "32 requests are being answered already"}`), "32 requests are being answered already"},
		"cut off": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}), "unexpected EOF"},
	} {
		if _, err := ask(t, c.handler).Status(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}

	t.Run("no answer", func(t *testing.T) {
		release := make(chan struct{})
		c := ask(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		defer close(release)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := c.Status(ctx); err == nil || !strings.Contains(err.Error(), "did not answer within") {
			t.Error(err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := c.Status(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestEndpoints(t *testing.T) {
	for endpoint, ok := range map[string]bool{
		client.DefaultEndpoint: true, "https://localhost:8440": true, "http://[::1]:8440/": true,
		"127.0.0.1:8440": false, "localhost": false, "ftp://localhost": false, "": false, "http://": false,
		"http://127.0.0.1:8440/sluice": false, "http://127.0.0.1:8440?x=1": false, "http://u:secret@127.0.0.1:8440": false,
	} {
		_, err := client.New(endpoint)
		if (err == nil) != ok {
			t.Errorf("%q: %v", endpoint, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error tells the password: %v", endpoint, err)
		}
	}
}
