package circuit

import "github.com/sluicehq/sluice/record"

// evidence is which different batches have failed alike since the last success.
type evidence struct {
	alike []alike
}

// alikeMax bounds the kinds of failures that are kept apart; of further ones nothing is remembered.
const alikeMax = 8

type alike struct {
	failure Failure
	batches [][]span
}

// span is a stretch of records of one partition.
type span struct {
	record.TopicPartition
	first, last record.Offset
}

func (e *evidence) forget() { e.alike = e.alike[:0] }

// add notes a failed batch and returns how many different ones have failed like it. Batches that share records are
// not different: the parts of one that was split, or the same again.
func (e *evidence) add(f Failure, runs []record.Run) int {
	a := e.of(f)
	if a == nil {
		return 0
	}
	spans := make([]span, len(runs))
	for i := range runs {
		spans[i] = span{runs[i].TopicPartition, runs[i].First(), runs[i].Last()}
	}
	for _, b := range a.batches {
		if overlap(b, spans) {
			return len(a.batches)
		}
	}
	a.batches = append(a.batches, spans) // at most batchesAlike: then the circuit opens
	return len(a.batches)
}

func (e *evidence) of(f Failure) *alike {
	for i := range e.alike {
		if e.alike[i].failure == f {
			return &e.alike[i]
		}
	}
	if len(e.alike) == alikeMax {
		return nil
	}
	e.alike = append(e.alike, alike{failure: f})
	return &e.alike[len(e.alike)-1]
}

func overlap(a, b []span) bool {
	for _, x := range a {
		for _, y := range b {
			if x.TopicPartition == y.TopicPartition && x.first <= y.last && y.first <= x.last {
				return true
			}
		}
	}
	return false
}
