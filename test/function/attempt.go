package function

import (
	"sync"
	"time"

	"github.com/sluicehq/sluice/record"
	"github.com/sluicehq/sluice/test/ledger"
)

// Attempt is one request that the function got.
type Attempt struct {
	Number     int64     // from 1, by arrival
	Begin, End time.Time // End is zero while it is being answered
	Mapping    string    // header Sluice-Mapping
	BatchID    string    // header Sluice-Batch-Id
	Attempt    int       // header Sluice-Attempt; 0 if it is missing or no number
	BodyBytes  int
	BodyHash   string // SHA-256, the first 16 hex digits
	Runs       []ledger.Run
	Action     Action // what the script did; empty if the event was refused before
	Status     int    // of the answer; 0 if there was none
	Failed     int    // records not taken
	Err        string // why the event was refused, or the answer not sent
}

// Records is how many records the batch had.
func (a Attempt) Records() int {
	n := 0
	for _, run := range a.Runs {
		n += len(run.Offsets)
	}
	return n
}

// Has reports whether a record was in the batch.
func (a Attempt) Has(tp record.TopicPartition, offset record.Offset) bool {
	for _, run := range a.Runs {
		if run.TopicPartition != tp {
			continue
		}
		for _, o := range run.Offsets {
			if o == offset {
				return true
			}
		}
	}
	return false
}

// Bounds of what is remembered; the oldest is forgotten first.
const (
	AttemptsMax = 20_000
	recordsMax  = 2_000_000 // in all remembered attempts: 24 MB
)

// Totals are over all attempts, remembered or not.
type Totals struct {
	Attempts      int64
	Failed        int64 // with at least one record not taken, or refused
	Refused       int64 // events that could not be read, or were too large
	Records       int64 // delivered, repetitions included
	Bytes         int64 // of bodies
	Concurrent    int   // being answered now
	ConcurrentMax int   // at most being answered at once
}

// memory remembers attempts.
type memory struct {
	mu       sync.Mutex
	attempts []*Attempt // by arrival
	records  int        // in attempts
	totals   Totals
}

func (m *memory) begin(a *Attempt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Attempts++
	m.totals.Bytes += int64(a.BodyBytes)
	m.totals.Records += int64(a.Records())
	m.totals.Concurrent++
	m.totals.ConcurrentMax = max(m.totals.ConcurrentMax, m.totals.Concurrent)
	a.Number = m.totals.Attempts
	m.attempts = append(m.attempts, a)
	m.records += a.Records()
	for len(m.attempts) > AttemptsMax || m.records > recordsMax && len(m.attempts) > 1 {
		m.records -= m.attempts[0].Records()
		m.attempts[0] = nil // the slice's array keeps it otherwise
		m.attempts = m.attempts[1:]
	}
}

// end writes what became of an attempt; from then on it does not change.
func (m *memory) end(a *Attempt, change func(*Attempt)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(a)
	m.totals.Concurrent--
	if a.Action == "" {
		m.totals.Refused++
	}
	if a.Action == "" || a.Failed > 0 {
		m.totals.Failed++
	}
}

func (m *memory) snapshot() ([]Attempt, Totals) {
	m.mu.Lock()
	defer m.mu.Unlock()
	attempts := make([]Attempt, len(m.attempts))
	for i, a := range m.attempts {
		attempts[i] = *a
	}
	return attempts, m.totals
}
