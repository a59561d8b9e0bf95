package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// readyTimeout is how long whoever is measured may take to begin to read.
	readyTimeout = time.Minute
	// lateTimeout is how long the last records of a stretch may take to arrive.
	lateTimeout = 10 * time.Second
	// warmUp is the beginning of a stretch that does not count: connections are made in it.
	warmUp = 500 * time.Millisecond
	// behindPoison are records behind the poison in its partition.
	behindPoison = 100
	// poisonFails is how often it must have failed before its effect is measured.
	poisonFails = 3
)

// producer sends records. One question is answered at a time.
type producer struct {
	client           *kgo.Client
	clock            *clock
	partitions, size int

	mu       sync.Mutex
	poisoned map[string]bool // topics with poison in partition 0
}

// send gives a record to the client, which tells failed if it could not be written.
func (p *producer) send(topic string, partition int, poison bool, failed func(error)) uint64 {
	value := make([]byte, p.size)
	number := p.clock.create()
	copy(value, head(number, poison))
	r := &kgo.Record{Topic: topic, Partition: int32(partition), Key: []byte("12345678"), Value: value}
	p.client.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
		if err != nil {
			failed(err)
		}
	})
	return number
}

func (p *producer) ready(q query) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var numbers []uint64
	for partition := range p.partitions {
		numbers = append(numbers, p.send(q.topic, partition, false, func(error) {}))
	}
	if !p.clock.wait(readyTimeout, func() bool { return p.missing(numbers) == 0 }) {
		return false, fmt.Errorf("topic %s: no record of some partition arrived within %v", q.topic, readyTimeout)
	}
	return true, nil
}

// missing counts those that have not arrived. The clock is locked.
func (p *producer) missing(numbers []uint64) int {
	n := 0
	for _, number := range numbers {
		if p.clock.arrived[number] == 0 {
			n++
		}
	}
	return n
}

func (p *producer) poison(q query) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	number := p.send(q.topic, 0, true, func(error) {})
	for range behindPoison {
		p.send(q.topic, 0, false, func(error) {})
	}
	p.poisoned[q.topic] = true
	if !p.clock.wait(readyTimeout, func() bool { return p.clock.failed[number] >= poisonFails }) {
		return false, fmt.Errorf("the poison did not come %d times within %v", poisonFails, readyTimeout)
	}
	return true, nil
}

// Stretch is what a stretch of records came to. Times are in milliseconds.
type Stretch struct {
	Records            int
	P50, P99, Most     float64
	RecordsPerSecond   float64 // as they were created
	PoisonedDeliveries int     // of poison, while it lasted
}

func (p *producer) stretch(q query) (Stretch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var failed error
	var once sync.Once
	poisonBefore := p.poisonCount()
	first := 0
	if p.poisoned[q.topic] {
		first = 1
	}
	interval := time.Second / time.Duration(q.rate)
	n, warm := int((q.For+warmUp)/interval), int(warmUp/interval)
	numbers := make([]uint64, 0, n)
	began := time.Now()
	for i := range n {
		time.Sleep(time.Until(began.Add(time.Duration(i) * interval)))
		numbers = append(numbers, p.send(q.topic, first+i%(p.partitions-first), false, func(err error) {
			once.Do(func() { failed = err })
		}))
	}
	took := time.Since(began)
	late := 0
	if !p.clock.wait(lateTimeout, func() bool { late = p.missing(numbers); return late == 0 }) {
		return Stretch{}, fmt.Errorf("topic %s at %d records/s: %d of %d did not arrive (producing: %v)", q.topic, q.rate, late, n, failed)
	}
	s := p.figures(numbers[warm:])
	s.RecordsPerSecond = float64(n) / took.Seconds()
	s.PoisonedDeliveries = p.poisonCount() - poisonBefore
	return s, nil
}

func (p *producer) poisonCount() int {
	p.clock.mu.Lock()
	defer p.clock.mu.Unlock()
	n := 0
	for _, times := range p.clock.failed {
		n += times
	}
	return n
}

func (p *producer) figures(numbers []uint64) Stretch {
	p.clock.mu.Lock()
	defer p.clock.mu.Unlock()
	var took []float64
	for _, number := range numbers {
		took = append(took, float64(p.clock.arrived[number]-p.clock.created[number])/float64(time.Millisecond))
	}
	slices.Sort(took)
	return Stretch{Records: len(took), P50: percentile(took, 50), P99: percentile(took, 99), Most: took[len(took)-1]}
}

// percentile of sorted values: the least that so many of a hundred do not exceed.
func percentile(sorted []float64, p int) float64 {
	return sorted[(len(sorted)*p+99)/100-1]
}
