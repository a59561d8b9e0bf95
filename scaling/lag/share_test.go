package lag

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/record"
)

// twoGroups are a topic of four partitions with ten records in the first, of which groups a and b have read 3 and 7, and
// another topic that nobody asks about.
func twoGroups(t *testing.T) (*kafka, func(group string) Query) {
	k := start(t)
	k.topic(t, "orders", 4)
	k.topic(t, "others", 2)
	k.produce(t, "orders", 0, 10)
	for group, at := range map[string]int64{"a": 3, "b": 7} {
		var os kadm.Offsets
		os.AddOffset(k.name("orders"), 0, at, -1)
		if err := k.admin.CommitAllOffsets(t.Context(), group, os); err != nil {
			t.Fatal(err)
		}
	}
	return k, func(group string) Query {
		return Query{Group: record.GroupID(group), Topics: []string{k.name("orders")}}
	}
}

// A thousand idle mappings asked five questions a second each, which was half of all that they cost.
func TestReadingsAtTheSameTimeShareTheirQuestions(t *testing.T) {
	k, ask := twoGroups(t)
	var requests atomic.Int32
	k.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		requests.Add(1)
		return nil, nil, false
	})
	r := New(k.client)
	const readings = 100
	var wg sync.WaitGroup
	for i := range readings {
		wg.Go(func() {
			group, want := "a", int64(7)
			if i%2 == 1 {
				group, want = "b", 3
			}
			if i%10 == 2 {
				group, want = fmt.Sprintf("new-%d", i), 10
			}
			got, err := r.Read(t.Context(), ask(group))
			if err != nil || len(got.Partitions) != 4 || got.Sum() != want {
				t.Errorf("group %s: %+v %v, want a lag of %d", group, got, err, want)
			}
		})
	}
	wg.Wait()
	if n := requests.Load(); n > readings {
		t.Errorf("%d requests for %d readings", n, readings)
	}
	t.Logf("%d requests for %d readings", requests.Load(), readings)
}

func TestAGroupThatMayNotBeReadHoldsUpNoOther(t *testing.T) {
	k, ask := twoGroups(t)
	k.ControlKey(int16(kmsg.OffsetFetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
		for _, g := range req.(*kmsg.OffsetFetchRequest).Groups {
			rg := kmsg.NewOffsetFetchResponseGroup()
			if rg.Group = g.Group; g.Group == "b" {
				rg.ErrorCode = kerr.GroupAuthorizationFailed.Code
			}
			resp.Groups = append(resp.Groups, rg)
		}
		return resp, nil, true
	})
	r := New(k.client)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if got, err := r.Read(t.Context(), ask("a")); err != nil || got.Sum() != 10 {
				t.Errorf("group a: %+v %v", got, err)
			}
		})
		wg.Go(func() {
			if got, err := r.Read(t.Context(), ask("b")); err == nil || !strings.Contains(err.Error(), "group b") {
				t.Errorf("group b: %+v %v", got, err)
			}
		})
	}
	wg.Wait()
}

// Who leads a round may be told to stop before it is due, or while it waits.
func TestARoundWithoutItsLeader(t *testing.T) {
	k, ask := twoGroups(t)
	r := New(k.client)
	r.last = time.Now().Add(time.Minute) // the next round is due much later than its leader stops
	leading, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = r.Read(leading, ask("a")) })
	for joined := false; !joined; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		joined = r.next != nil
		r.mu.Unlock()
	}
	wg.Go(func() {
		if got, err := r.Read(t.Context(), ask("b")); err != nil || got.Sum() != 3 {
			t.Errorf("group b: %+v %v", got, err)
		}
	})
	for joined := false; !joined; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		joined = r.next != nil && len(r.next.groups) == 2
		r.mu.Unlock()
	}
	stop()
	wg.Wait()
}
