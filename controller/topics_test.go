package controller_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/controller"
)

// topicLife is what a feed of the tests says of its topics.
type topicLife struct {
	lapsed    chan struct{}
	refreshed atomic.Int64

	topics          sync.Mutex
	absent, stopped []string
}

func (l *topicLife) Lapsed() <-chan struct{} { return l.lapsed }

func (l *topicLife) Recreated() map[string]string { return map[string]string{"orders": "old"} }

func (l *topicLife) Refresh() { l.refreshed.Add(1) }

func (l *topicLife) Absent() []string {
	l.topics.Lock()
	defer l.topics.Unlock()
	return l.absent
}

func (l *topicLife) Stopped() []string {
	l.topics.Lock()
	defer l.topics.Unlock()
	return l.stopped
}

func (l *topicLife) tell(absent, stopped []string) {
	l.topics.Lock()
	defer l.topics.Unlock()
	l.absent, l.stopped = absent, stopped
}

// read has Read change what it says.
func (w *world) read(change func([]controller.Offsets) []controller.Offsets) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.change = change
}

func (w *world) changed(offsets []controller.Offsets) []controller.Offsets {
	if w.change == nil {
		return offsets
	}
	return w.change(offsets)
}

// A feed that has lapsed is drained and closed, and the next one is told why. Counts go on; the mapping is the same.
func TestAFeedThatLapsesIsOpenedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		c := run(t, w, nil)
		time.Sleep(1500 * time.Millisecond)
		first := w.get()
		first.add(100)
		time.Sleep(2 * time.Second)
		close(first.lapsed)
		time.Sleep(2 * time.Second)
		second := w.get()
		if second == first || w.opened != 2 || w.closed != 1 {
			t.Fatalf("opened %d, closed %d", w.opened, w.closed)
		}
		if w.spec.Recreated["orders"] != "old" {
			t.Errorf("the second feed was told %v", w.spec.Recreated)
		}
		second.add(50)
		time.Sleep(5 * time.Second)
		if st := only(c); st.State != "Enabled" || !st.Ready || *st.Lag != 0 || st.Counts.Invoked != 150 {
			t.Errorf("status: %+v", st)
		}
		stop(t, c)
		if w.closed != 2 {
			t.Errorf("closed %d", w.closed)
		}
	})
}

// A service may be stopped while a lapsed feed drains, and while the next one cannot be opened.
func TestAStopWhileAFeedIsOpenedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		c := run(t, w, nil)
		time.Sleep(1500 * time.Millisecond)
		w.mu.Lock()
		w.openErr = context.DeadlineExceeded
		w.mu.Unlock()
		close(w.get().lapsed)
		time.Sleep(5 * time.Second)
		if ok, reasons := c.Ready(); ok || !strings.Contains(strings.Join(reasons, ""), "deadline") {
			t.Errorf("ready: %v %v", ok, reasons)
		}
		stop(t, c)
		if w.opened != 1 || w.closed != 1 {
			t.Errorf("opened %d, closed %d", w.opened, w.closed)
		}
	})
}

// Topics that do not exist, and those that are not read because they were created anew, show everywhere.
func TestTopicsThatAreNotReadShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		c := run(t, w, nil)
		time.Sleep(1500 * time.Millisecond)
		for _, tc := range []struct {
			absent, stopped []string
			want            string
		}{
			{[]string{"orders"}, nil, "topic orders does not exist; waiting for it"},
			{[]string{"orders", "returns"}, nil, "topics orders, returns do not exist; waiting for them"},
			{nil, []string{"orders"}, "topic orders was deleted and created anew, and onTopicRecreated is stop: not read until that is startAtBeginning"},
			{nil, nil, ""},
		} {
			w.get().tell(tc.absent, tc.stopped)
			st := only(c)
			explained, err := c.Explain("orders", nil)
			if err != nil {
				t.Fatal(err)
			}
			if st.NotReadyReason != tc.want || st.Ready != (tc.want == "") {
				t.Errorf("readiness: %v, %q; want %q", st.Ready, st.NotReadyReason, tc.want)
			}
			if tc.want != "" && (st.LastProcessingResult != "PROBLEM: "+tc.want || explained.Summary != tc.want) {
				t.Errorf("result %q, summary %q; want %q", st.LastProcessingResult, explained.Summary, tc.want)
			}
		}
		stop(t, c)
	})
}

// The feed is told to look when the offsets show that partitions came, went, or begin again; not when they only move on.
func TestTheFeedIsToldWhenPartitionsComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		c := run(t, w, nil)
		time.Sleep(1500 * time.Millisecond)
		told := func(want int64, what string) {
			t.Helper()
			time.Sleep(6 * time.Second) // a mapping at rest is looked at every four
			if n := w.get().refreshed.Swap(0); n != want {
				t.Errorf("%s: told %d times, want %d", what, n, want)
			}
		}
		w.get().refreshed.Store(0)
		w.get().add(20)
		told(0, "records came")
		w.read(func(o []controller.Offsets) []controller.Offsets {
			more := o[0]
			more.Partition++
			return append(o, more)
		})
		told(1, "a partition came")
		w.read(func(o []controller.Offsets) []controller.Offsets {
			o[0].End = 1
			return o
		})
		told(1, "a partition went, and the other's log is short")
		w.read(func(o []controller.Offsets) []controller.Offsets {
			o[0].End, o[0].Committed = 1, -1
			return o
		})
		told(1, "the commit is gone")
		w.mu.Lock()
		w.lagErr = context.DeadlineExceeded
		w.mu.Unlock()
		told(1, "nothing can be read")
		stop(t, c)
	})
}
