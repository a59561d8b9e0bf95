package demo

import (
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/controller"
)

// meter reads one scene now and again.
type meter struct {
	demo  *demo
	scene *scene

	counts    counts
	status    controller.MappingStatus
	perSecond float64 // settled, over the last second or so
	shown     atomic.Value

	marks []mark
}

// mark is how many were settled at a time.
type mark struct {
	at      time.Time
	settled int64
}

func newMeters(d *demo) []*meter {
	var meters []*meter
	for _, s := range d.scenes {
		m := &meter{demo: d, scene: s}
		m.shown.Store("")
		m.read()
		meters = append(meters, m)
	}
	return meters
}

func (m *meter) read() {
	m.counts = m.scene.ledger.sums()
	m.status = find(m.demo.service.Controller().Status(), m.scene.Name)
	now := mark{time.Now(), m.counts.settled()}
	m.marks = append(m.marks, now)
	// The oldest mark that is kept is at least a second old, where there is one.
	for len(m.marks) > 2 && now.at.Sub(m.marks[1].at) >= time.Second {
		m.marks = m.marks[1:]
	}
	if seconds := now.at.Sub(m.marks[0].at).Seconds(); seconds > 0 {
		m.perSecond = float64(now.settled-m.marks[0].settled) / seconds
	}
}
