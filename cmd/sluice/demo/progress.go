package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/sluicehq/sluice/controller"
)

// show tells how the run goes until ctx ends: bars on a terminal, else a line a second.
func (d *demo) show(ctx context.Context) {
	if d.Terminal {
		d.showBars(ctx)
		return
	}
	meters := newMeters(d)
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for running := true; running; {
		select {
		case <-every.C:
		case <-ctx.Done():
			running = false // once more: how it ended
		}
		for _, m := range meters {
			m.read()
			fmt.Fprintf(d.Out, "%s: %s of %s produced, %s settled, %s\n", m.scene.Name,
				comma(m.counts.Produced), comma(int64(m.scene.records)), comma(m.counts.settled()), m.speed())
		}
	}
}

// showBars draws for each scene a bar of what is produced, one of what is settled, and a line of figures.
func (d *demo) showBars(ctx context.Context) {
	bars := mpb.New(mpb.WithOutput(d.Out), mpb.WithWidth(64), mpb.WithRefreshRate(100*time.Millisecond), mpb.WithAutoRefresh())
	meters := newMeters(d)
	type pair struct{ produced, settled, figures *mpb.Bar }
	var pairs []pair
	for _, m := range meters {
		bar := func(what string) *mpb.Bar {
			return bars.AddBar(int64(m.scene.records),
				mpb.PrependDecorators(decor.Name(m.scene.Name+" "+what, decor.WCSyncSpaceR)),
				mpb.AppendDecorators(decor.CountersNoUnit("%d / %d")))
		}
		p := pair{produced: bar("produced"), settled: bar("settled")}
		p.figures = bars.New(1, mpb.NopStyle(), mpb.PrependDecorators(
			decor.Any(func(decor.Statistics) string { return m.shown.Load().(string) })))
		pairs = append(pairs, p)
	}
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for running := true; running; {
		select {
		case <-every.C:
		case <-ctx.Done():
			running = false
		}
		for i, m := range meters {
			m.read()
			m.shown.Store("  " + m.speed())
			pairs[i].produced.SetCurrent(m.counts.Produced)
			pairs[i].settled.SetCurrent(m.counts.settled())
		}
	}
	for _, p := range pairs {
		for _, bar := range []*mpb.Bar{p.produced, p.settled, p.figures} {
			bar.Abort(false) // keeps what is drawn; a bar that is full has ended already
		}
	}
	bars.Wait()
}

// speed says how fast it goes and what it takes. The lag is what was produced and is not settled, by the demo's own books:
// the service reads offsets once a second, which is stale at the end.
func (m *meter) speed() string {
	pollers := "pollers"
	if m.status.Pollers.Now == 1 {
		pollers = "poller"
	}
	return fmt.Sprintf("%s records/s, %d %s, lag %s", comma(int64(m.perSecond)), m.status.Pollers.Now, pollers,
		comma(max(0, m.counts.Produced-m.counts.settled())))
}

// find picks a mapping's status.
func find(s controller.Status, name string) controller.MappingStatus {
	for _, m := range s.Mappings {
		if m.Name == name {
			return m
		}
	}
	return controller.MappingStatus{}
}

func comma(n int64) string { return humanize.Comma(n) }
