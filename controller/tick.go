package controller

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/scaling"
)

// interval is how often the runner looks; samples is how often in between it looks how many slots are in use. A mapping
// that had nothing to do at the last look is sampled once: a thousand of them would wake up ten thousand times a second. One
// that rests is looked at each restInterval: what looks at a thousand of them cost was half of their CPU.
const (
	interval     = time.Second
	samples      = 10
	restInterval = 4 * interval
)

// rest is for a mapping that has nothing to do and nothing to decide: no lag, nothing in flight, as few pollers as there may
// be. It ends with the first record that is fetched, and each look may end it.
type rest struct {
	on     atomic.Bool
	polled atomic.Int64 // records that were fetched before
}

func (r *runner) resting() bool {
	return r.rest.on.Load() && r.metrics.Polled.Value() == r.rest.polled.Load()
}

// tick reads and decides once an interval until ctx ends or the feed has lapsed.
func (r *runner) tick(ctx context.Context) {
	var background sync.WaitGroup
	defer background.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	offsets := r.watchOffsets(ctx, &background)
	every := time.NewTicker(interval / samples)
	defer every.Stop()
	var busy, n int
	idle, looks := false, time.Time{} // looks is when the next look at a mapping that rests is due
	for {
		select {
		case <-every.C:
		case <-r.adapters.Feed.Lapsed():
			return
		case <-ctx.Done():
			return
		}
		b, _ := r.pool.Slots()
		busy += b
		if n++; n < samples && !idle {
			continue
		}
		was, now := idle, time.Now()
		if r.resting() && now.Before(looks) {
			busy, n = 0, 0
			continue
		}
		looks = now.Add(restInterval - interval/2)
		if idle = r.look(now, offsets(), float64(busy)/float64(n)); idle && !was {
			every.Reset(interval)
		} else if was && !idle {
			every.Reset(interval / samples)
		}
		busy, n = 0, 0
	}
}

// reading is what the offsets were when they were last asked for.
type reading struct {
	offsets []Offsets
	err     error
	at      time.Time
}

// offsetTimeout bounds one reading; a slower cluster counts as unknown.
const offsetTimeout = 10 * time.Second

// watchOffsets reads offsets in the background, so that a slow cluster does not hold the runner up, and returns how to
// get the newest.
func (r *runner) watchOffsets(ctx context.Context, background *sync.WaitGroup) func() reading {
	var mu sync.Mutex
	var last reading
	background.Go(func() {
		var seen layout
		for ctx.Err() == nil {
			bounded, cancel := context.WithTimeout(ctx, offsetTimeout)
			offsets, err := r.adapters.Offsets.Read(bounded)
			cancel()
			r.probe(ctx, offsets)
			if seen.changed(offsets, err) {
				r.adapters.Feed.Refresh()
			}
			mu.Lock()
			last = reading{offsets, err, time.Now()}
			mu.Unlock()
			for waited := time.Duration(0); waited == 0 || waited < restInterval && r.resting(); waited += interval {
				select {
				case <-time.After(interval):
				case <-ctx.Done():
					return
				}
			}
		}
	})
	return func() reading {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

// layout is which partitions there were at the last reading of offsets, and how long their logs.
type layout struct {
	ends   map[record.TopicPartition]Offsets
	failed bool
}

// changed takes a reading and says whether topics or partitions may have come, gone, or been made anew since the one
// before. The feed's own client would notice much later: it asks for metadata every half a minute.
func (l *layout) changed(offsets []Offsets, err error) bool {
	failed := l.failed
	if l.failed = err != nil; err != nil {
		return !failed && l.ends != nil
	}
	before := l.ends
	l.ends = make(map[record.TopicPartition]Offsets, len(offsets))
	changed := before != nil && len(before) != len(offsets)
	for i := range offsets {
		o := &offsets[i]
		was, known := before[o.TopicPartition]
		changed = changed || before != nil && !known || o.End < was.End || known && o.Committed < 0 && was.Committed >= 0
		l.ends[o.TopicPartition] = *o
	}
	return changed
}

// probeAfter is how long a partition may seem to have lag, with nothing in its window, before it is looked at.
const probeAfter = 3 * time.Second

// probesMax bounds how many partitions are looked at in one interval.
const probesMax = 16

// probe has the feed look at partitions that are idle although the broker says that there is more.
func (r *runner) probe(ctx context.Context, offsets []Offsets) {
	ends := make(map[record.TopicPartition]record.Offset, len(offsets))
	for i := range offsets {
		ends[offsets[i].TopicPartition] = offsets[i].End
	}
	now := time.Now()
	var idle []record.TopicPartition
	for _, st := range r.adapters.Feed.States() {
		if st.Records == 0 && ends[st.TopicPartition] > st.Next && now.Sub(r.stillSince(st.TopicPartition, now)) > probeAfter &&
			len(idle) < probesMax {
			idle = append(idle, st.TopicPartition)
		}
	}
	if len(idle) == 0 {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, offsetTimeout)
	defer cancel()
	if err := r.adapters.Feed.Probe(bounded, idle); err != nil && ctx.Err() == nil {
		r.log.Debug("probing partitions without progress", "error", err)
	}
}

// stillSince is since when the partition has made no progress, as far as was seen.
func (r *runner) stillSince(tp record.TopicPartition, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.seen.partitions {
		if p := &r.seen.partitions[i]; p.TopicPartition == tp {
			return p.moved
		}
	}
	return now
}

// rates turns counters into speeds.
type rates struct {
	at                         time.Time
	settled, bytes             int64
	throttled                  time.Duration
	ended, errors              int64 // calls that ended, and those that failed
	failing                    bool
	recordsPerSec, bytesPerSec float64
}

// look takes one reading, keeps the pollers that the scaler wants, and publishes what it saw. It says whether there was
// nothing to do.
func (r *runner) look(now time.Time, rd reading, busy float64) (idle bool) {
	snap := r.metrics.Snapshot()
	settled := r.settled + r.adapters.Feed.Settled()
	in := scaling.Reading{
		InFlight: snap.InFlightRecords, Settled: settled, Bytes: snap.AcquiredBytes,
		Pollers: r.pool.Size(), BusySlots: busy,
		Throttled: snap.ThrottledTime-r.rates.throttled > interval/20,
	}
	ended := snap.Batches - snap.InFlightBatches
	if errs, calls := snap.InvokeErrors-r.rates.errors, ended-r.rates.ended; calls > 0 {
		r.rates.failing = 2*errs > calls // kept until calls end again: slow ones end seldom
	}
	in.Failing = r.rates.failing
	if dt := now.Sub(r.rates.at).Seconds(); !r.rates.at.IsZero() && dt > 0 {
		r.rates.recordsPerSec = smooth(r.rates.recordsPerSec, float64(settled-r.rates.settled)/dt)
		r.rates.bytesPerSec = smooth(r.rates.bytesPerSec, float64(snap.AcquiredBytes-r.rates.bytes)/dt)
	}
	r.rates.at, r.rates.settled, r.rates.bytes = now, settled, snap.AcquiredBytes
	r.rates.throttled, r.rates.ended, r.rates.errors = snap.ThrottledTime, ended, snap.InvokeErrors

	states := r.adapters.Feed.States()
	if _, known := lagOf(rd); known {
		in.Lag, in.Partitions = own(states, rd)
	} else {
		in.Invalid = unknown(rd)
	}
	in.Calls, in.Scopes, in.Moved = ended, working(states), r.moved(states)
	d := r.scaler.Step(now, in)
	r.pool.Resize(d.To)
	r.metrics.PollersWanted.Set(int64(d.To))
	r.metrics.Throttled.SetBool(in.Throttled)
	r.publish(now, rd, states, d)
	idle = in.Scopes == 0 && snap.InFlightBatches == 0
	r.rest.polled.Store(snap.Polled)
	r.rest.on.Store(idle && in.Invalid == "" && in.Lag == 0 && d.From == d.To && d.To <= max(r.m.MinimumPollers, 1))
	return idle
}

// own is the lag of the partitions that are ours, and how many they are: other processes of the group scale for theirs.
func own(states []inflight.State, rd reading) (lag int64, partitions int) {
	ours := make(map[record.TopicPartition]bool, len(states))
	for i := range states {
		ours[states[i].TopicPartition] = true
	}
	for i := range rd.offsets {
		if ours[rd.offsets[i].TopicPartition] {
			lag += rd.offsets[i].Lag
		}
	}
	return lag, len(states)
}

// moved says whether other partitions are ours than at the last look.
func (r *runner) moved(states []inflight.State) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.EqualFunc(states, r.seen.partitions, func(s inflight.State, p partition) bool {
		return s.TopicPartition == p.TopicPartition
	})
}

func smooth(old, now float64) float64 { return 0.6*old + 0.4*now }

func lagOf(rd reading) (lag int64, known bool) {
	if rd.err != nil || rd.at.IsZero() {
		return 0, false
	}
	for i := range rd.offsets {
		lag += rd.offsets[i].Lag
	}
	return lag, true
}

func unknown(rd reading) string {
	if rd.err != nil {
		return "lag is unknown: " + rd.err.Error()
	}
	return "lag is not known yet"
}

// working counts the partitions that have records to hand out or out.
func working(states []inflight.State) int {
	n := 0
	for i := range states {
		if states[i].Records > 0 {
			n++
		}
	}
	return n
}

// publish makes a reading visible: to status, to the metrics and to readiness.
func (r *runner) publish(now time.Time, rd reading, states []inflight.State, d scaling.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.update(now, rd, states, r.m, d.Reading.Throttled)
	r.seen.recordsPerSec, r.seen.bytesPerSec = r.rates.recordsPerSec, r.rates.bytesPerSec
	r.remember(d)
	r.target(rd)
	r.tell(now, rd.err)
	lags := make([]metric.PartitionLag, 0, len(rd.offsets))
	for i := range rd.offsets {
		lags = append(lags, metric.PartitionLag{TopicPartition: rd.offsets[i].TopicPartition, Lag: rd.offsets[i].Lag})
	}
	if r.seen.lagKnown {
		r.metrics.SetLag(lags)
	} else {
		r.metrics.SetLagUnknown()
	}
	stalls := make([]metric.PartitionStall, 0, len(r.seen.partitions))
	for i := range r.seen.partitions {
		p := &r.seen.partitions[i]
		stalls = append(stalls, metric.PartitionStall{TopicPartition: p.TopicPartition, For: p.stalled(now)})
	}
	r.metrics.SetStalled(stalls)
	ready, _ := r.ready(now)
	r.metrics.Ready.SetBool(ready)
}

// tell logs a cluster that does not answer as it should, when it begins, changes and ends: a topic that does not exist
// would show nowhere else in the log. A fresh cluster gets a few seconds.
func (r *runner) tell(now time.Time, err error) {
	text := ""
	if err != nil && now.Sub(r.seen.failingSince) >= tellAfter {
		text = err.Error()
	}
	switch {
	case text == r.told || err != nil && text == "":
	case text == "":
		r.log.Info("the cluster answers again")
		r.told = text
	default:
		r.log.Warn("the mapping's offsets cannot be read; trying again", "reason", r.inWords(err), "error", err)
		r.told = text
	}
}

// tellAfter is how long offsets must be unreadable before the log says so.
const tellAfter = 3 * time.Second

// remember keeps the decisions that changed something, and the newest.
func (r *runner) remember(d scaling.Decision) {
	lag := &d.Reading.Lag
	if d.Reading.Invalid != "" {
		lag = nil
	}
	shown := Decision{At: d.At.UTC(), From: d.From, To: d.To, Reason: d.Reason, Reading: Reading{
		Lag: lag, ArrivingPerSecond: d.ArrivingPerSecond, SettledPerSecond: d.SettledPerSecond, Use: d.Use,
		Throttled: d.Reading.Throttled,
	}}
	if d.PerPoller > 0 {
		shown.Reading.PerPoller = &d.PerPoller
	}
	if d.Changed() {
		r.log.Info("pollers", "from", d.From, "to", d.To, "reason", d.Reason)
	}
	if n := len(r.history); n > 0 && r.history[n-1].From == r.history[n-1].To {
		r.history = r.history[:n-1]
	}
	r.history = append(r.history, shown)
	if len(r.history) > historyMax {
		r.history = r.history[len(r.history)-historyMax:]
	}
}

// target notes, at the first reading, how far the mapping has to come to have settled all that was there at start.
func (r *runner) target(rd reading) {
	if r.targets != nil || !r.seen.lagKnown {
		return
	}
	r.targets = make(map[record.TopicPartition]record.Offset, len(rd.offsets))
	for i := range rd.offsets {
		r.targets[rd.offsets[i].TopicPartition] = rd.offsets[i].End
	}
}

var _ poller.Feed = Feed(nil)
