// Package connect tries what a valid configuration names: whether its clusters let us in, its topics are there, its
// consumer groups and dead-letter topics may be used, and its functions are within reach.
//
// It reads and asks alone: no record is read or written, no group joined, no function invoked. What it finds is said as
// the mistakes of package config are, with the place in the file and what to do.
package connect

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/cmd/sluice/service"
	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/internal/kafka"
	"github.com/sluicehq/sluice/mapping"
)

const (
	// TimeoutDefault bounds each cluster, mapping and function. Mappings are tried once their clusters are.
	TimeoutDefault = 10 * time.Second
	// progressEvery is how often Progress is told.
	progressEvery = 2 * time.Second
	// atOnce bounds what is tried at the same time.
	atOnce = 32
)

// Options of Check.
type Options struct {
	// Timeout bounds each cluster, mapping and function; TimeoutDefault if 0.
	Timeout time.Duration
	// Progress is told every 2 s how many of all checks are done and what is waited for; nil for nobody.
	Progress func(done, total int, waiting []string)
}

// checker is one Check on its way.
type checker struct {
	config   *config.Config
	options  Options
	clusters map[mapping.ClusterName]kafka.Cluster
	slots    chan struct{}

	mu      sync.Mutex
	found   config.Errors
	ready   map[mapping.ClusterName]*cluster // those that let us in
	waiting map[string]bool
	done    int
}

// Check tries everything that c names and returns what is wrong, by place; nil if nothing is.
func Check(ctx context.Context, c *config.Config, o Options) config.Errors {
	if o.Timeout == 0 {
		o.Timeout = TimeoutDefault
	}
	k := &checker{
		config: c, options: o, clusters: service.Clusters(c), slots: make(chan struct{}, atOnce),
		ready: map[mapping.ClusterName]*cluster{}, waiting: map[string]bool{},
	}
	defer k.close()
	defer k.watch()()
	var wg sync.WaitGroup
	for name := range c.Clusters {
		k.try(ctx, &wg, "cluster "+string(name), func(ctx context.Context) { k.cluster(ctx, name) })
	}
	for name, f := range c.Functions {
		k.try(ctx, &wg, "function "+string(name), func(ctx context.Context) { k.function(ctx, f) })
	}
	wg.Wait()
	for i := range c.Mappings {
		m := &c.Mappings[i]
		k.try(ctx, &wg, "mapping "+string(m.Name), func(ctx context.Context) { k.mapping(ctx, m) })
	}
	wg.Wait()
	if len(k.found) == 0 {
		return nil
	}
	return k.found.Sorted()
}

// try runs a check within its bounds.
func (k *checker) try(ctx context.Context, wg *sync.WaitGroup, what string, check func(context.Context)) {
	wg.Go(func() {
		k.slots <- struct{}{}
		defer func() { <-k.slots }()
		k.wait(what, true)
		defer k.wait(what, false)
		ctx, cancel := context.WithTimeout(ctx, k.options.Timeout)
		defer cancel()
		check(ctx)
	})
}

func (k *checker) wait(what string, begins bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if begins {
		k.waiting[what] = true
	} else {
		delete(k.waiting, what)
		k.done++
	}
}

// watch tells Progress until the returned function is called.
func (k *checker) watch() (stop func()) {
	if k.options.Progress == nil {
		return func() {}
	}
	ended, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				k.options.Progress(k.progress())
			}
		}
	}()
	return func() {
		close(ended)
		<-told
	}
}

func (k *checker) progress() (done, total int, waiting []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for what := range k.waiting {
		waiting = append(waiting, what)
	}
	slices.Sort(waiting)
	return k.done, len(k.config.Clusters) + len(k.config.Functions) + len(k.config.Mappings), waiting
}

// report keeps what is wrong.
func (k *checker) report(w config.Where, hint, format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.found = append(k.found, w.Problem(hint, "%s", oneLine(fmt.Sprintf(format, args...))))
}

// oneLine keeps a message that others wrote parts of on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// client makes a client that gives up soon and logs nothing: what goes wrong is reported.
func client(c kafka.Cluster) (*kgo.Client, error) {
	return kafka.NewClient(c, slog.New(slog.DiscardHandler), kgo.RequestRetries(2), kgo.DialTimeout(kafka.DialTimeout/2))
}

func (k *checker) close() {
	for _, c := range k.ready {
		c.client.Close()
	}
}
