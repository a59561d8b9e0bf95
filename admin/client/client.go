// Package client asks a running service the questions of the admin API: for the commands status and explain, and for
// tests. What the answers mean stands in controller, how to print them is render's.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/sluicehq/sluice/admin"
	"github.com/sluicehq/sluice/controller"
)

// DefaultEndpoint is where a service listens unless its configuration says otherwise.
const DefaultEndpoint = "http://127.0.0.1:8440"

const (
	timeout = 10 * time.Second
	// answerBytesMax bounds an answer: the status of thousands of mappings with hundreds of partitions each.
	answerBytesMax = 256 << 20
)

// Client asks one service. It may be used from any goroutine.
type Client struct {
	endpoint string
	http     *http.Client
}

// New returns a client for an endpoint such as DefaultEndpoint. Nothing is asked yet.
func New(endpoint string) (*Client, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return nil, fmt.Errorf("endpoint %q: %w", endpoint, err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("endpoint %q: allowed is http://HOST:PORT or https://HOST:PORT", endpoint)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("endpoint %s: only scheme, host and port are allowed", u.Redacted())
	}
	return &Client{
		endpoint: u.Scheme + "://" + u.Host,
		http: &http.Client{
			Timeout:   timeout,
			Transport: &http.Transport{}, // no proxy: the service is here
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return errRedirected
			},
		},
	}, nil
}

var errRedirected = errors.New("it redirects")

// Status asks for every mapping's status.
func (c *Client) Status(ctx context.Context) (controller.Status, error) {
	var s controller.Status
	err := c.get(ctx, admin.StatusPath, nil, &s)
	return s, err
}

// Explain asks what a mapping, by name or UUID, waits for. Partition is TOPIC-NUMBER or NUMBER; empty means all.
func (c *Client) Explain(ctx context.Context, mapping, partition string) (controller.Explanation, error) {
	q := url.Values{"mapping": {mapping}}
	if partition != "" {
		q.Set("partition", partition)
	}
	var e controller.Explanation
	err := c.get(ctx, admin.ExplainPath, q, &e)
	return e, err
}

// Decisions asks for the last scaling decisions of a mapping, the newest first.
func (c *Client) Decisions(ctx context.Context, mapping string) ([]controller.Decision, error) {
	var d admin.Decisions
	err := c.get(ctx, admin.DecisionsPath, url.Values{"mapping": {mapping}}, &d)
	return d.Decisions, err
}

func (c *Client) get(ctx context.Context, path string, q url.Values, answer any) error {
	address := c.endpoint + path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return c.unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	if err != nil {
		return c.unreachable(err)
	}
	if response.StatusCode != http.StatusOK {
		return c.refused(response.StatusCode, body)
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return c.stranger("its answer is not one of the admin API's")
	}
	return nil
}

// unreachable says in words why no answer came.
func (c *Client) unreachable(err error) error {
	var network net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no sluice at %s: is `sluice run` up? (--endpoint-url names another address)", c.endpoint)
	case errors.Is(err, errRedirected):
		return c.stranger(errRedirected.Error())
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("sluice at %s did not answer within %s", c.endpoint, timeout)
	}
	var cause *url.Error
	if errors.As(err, &cause) {
		err = cause.Err // without method and address, which the message has
	}
	return fmt.Errorf("sluice at %s: %w", c.endpoint, err)
}

// refused is an answer with another status than 200.
func (c *Client) refused(code int, body []byte) error {
	var e admin.Error
	if json.Unmarshal(body, &e) != nil || e.Error == "" {
		return c.stranger(fmt.Sprintf("it answers %d", code))
	}
	return errors.New(e.Error)
}

func (c *Client) stranger(why string) error {
	return fmt.Errorf("what listens at %s is not sluice, or not this version: %s", c.endpoint, why)
}
