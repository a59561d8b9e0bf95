package function

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Script is what the function does with its requests. The zero value takes everything at once.
type Script struct {
	// Seed makes the draws (shares and jitter) the same in each run; which request meets which draw depends on the
	// order of arrival.
	Seed uint64
	// Delay comes before every answer, with up to Jitter more.
	Delay, Jitter time.Duration
	// BodyMax is the largest event, in bytes, that is not refused with 413. 0 means 64 MiB.
	BodyMax int64
	// Rules are tried in order.
	Rules []Rule
}

const bodyMaxDefault = 64 << 20

// play is a script being played.
type play struct {
	script Script

	mu     sync.Mutex
	chance *rand.Rand
	used   []int // by rule: requests it has decided
}

func newPlay(s Script) *play {
	if s.BodyMax == 0 {
		s.BodyMax = bodyMaxDefault
	}
	return &play{script: s, chance: rand.New(rand.NewPCG(s.Seed, 0)), used: make([]int, len(s.Rules))}
}

// decide chooses the rule for a request, and its delay before the answer.
func (p *play) decide(e event, attempt int) (Rule, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delay := p.script.Delay
	if p.script.Jitter > 0 {
		delay += time.Duration(p.chance.Int64N(int64(p.script.Jitter)))
	}
	for i, r := range p.script.Rules {
		if r.Times > 0 && p.used[i] >= r.Times || !r.meets(e, attempt) {
			continue
		}
		if r.Share > 0 && p.chance.Float64() >= r.Share {
			continue
		}
		p.used[i]++
		if r.Action != Drip {
			delay += r.Delay
		}
		return r, delay
	}
	return Rule{Action: Succeed}, delay
}
