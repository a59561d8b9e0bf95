package network

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2"
)

// Fault is something that a network does to connections.
type Fault struct {
	Name string

	ends, resets bool // the connections of now end, by FIN or by RST
	refuses      bool // new ones are refused
	forgets      bool // the toxics are for the connections of now, and for ever
	toxics       []toxic
}

func (f Fault) String() string { return f.Name }

// toxic is toxiproxy's JSON.
type toxic struct {
	Name       string           `json:"name"`
	Type       string           `json:"type"`
	Stream     string           `json:"stream"`
	Attributes map[string]int64 `json:"attributes"`
}

// eachWay is a fault of both directions.
func eachWay(name, kind string, attributes map[string]int64) Fault {
	return Fault{Name: name, toxics: []toxic{
		{name + "_up", kind, "upstream", attributes}, {name + "_down", kind, "downstream", attributes},
	}}
}

// Latency delays everything, in each direction, by delay give or take jitter.
func Latency(delay, jitter time.Duration) Fault {
	return eachWay("latency", "latency", map[string]int64{"latency": delay.Milliseconds(), "jitter": jitter.Milliseconds()})
}

// Bandwidth lets through so many KB/s on each connection and in each direction.
func Bandwidth(kilobytes int64) Fault {
	return eachWay("bandwidth", "bandwidth", map[string]int64{"rate": kilobytes})
}

// Slices passes on about so many bytes at a time, each after a pause.
func Slices(size int64, pause time.Duration) Fault {
	return eachWay("slices", "slicer", map[string]int64{
		"average_size": size, "size_variation": size / 2, "delay": pause.Microseconds(),
	})
}

// Cut ends all connections once, by FIN; new ones can be made at once.
func Cut() Fault { return Fault{Name: "cut", ends: true} }

// Reset ends all connections once, by RST; new ones can be made at once.
func Reset() Fault { return Fault{Name: "reset", ends: true, resets: true} }

// Refuse ends all connections by RST, and refuses new ones.
func Refuse() Fault { return Fault{Name: "refuse", ends: true, resets: true, refuses: true} }

// Blackhole swallows every byte; connections can be made and stay open. Those of now end when it is healed: what is
// missing cannot be made up for.
func Blackhole() Fault { return eachWay("blackhole", "timeout", map[string]int64{"timeout": 0}) }

// Stall holds every byte back until it is healed, as a network does that loses packets for a while: afterwards the
// system sends them again.
func Stall() Fault {
	return eachWay("stall", "latency", map[string]int64{"latency": time.Hour.Milliseconds()})
}

// Forget swallows every byte of the connections of now, for ever, without their ends hearing of it, as a firewall does
// that has lost its table; new ones are well. Heal does not bring them back.
func Forget() Fault {
	f := Blackhole()
	f.Name, f.forgets = "forget", true
	return f
}

// changeTimeout is how long each awaits a change. One that takes longer goes on behind: it writes what was held back
// to connections that may be gone.
const changeTimeout = 500 * time.Millisecond

// each changes collections beside one another.
func each(eras []*toxiproxy.ToxicCollection, change func(*toxiproxy.ToxicCollection)) {
	done := make(chan struct{}, len(eras))
	for _, c := range eras {
		go func() {
			change(c)
			done <- struct{}{}
		}()
	}
	timeout := time.After(changeTimeout)
	for range eras {
		select {
		case <-done:
		case <-timeout:
			return
		}
	}
}

func reset(c *toxiproxy.ToxicCollection) { c.ResetToxics(context.Background()) }

func (t toxic) add(c *toxiproxy.ToxicCollection) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = c.AddToxicJson(strings.NewReader(string(text)))
	return err
}
