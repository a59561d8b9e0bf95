package lag

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// cases hold on kfake and on Kafka alike.
var cases = map[string]func(*testing.T, *kafka){
	"no commit is not ambiguous":       noCommitIsNotAmbiguous,
	"positions":                        positions,
	"start at a time":                  startAtATime,
	"transactions":                     transactions,
	"topics by expression":             topicsByExpression,
	"a missing topic is unknown":       aMissingTopicIsUnknown,
	"no topics means none and not all": noTopicsMeansNoneAndNotAll,
}

func TestOnKfake(t *testing.T) {
	for name, run := range cases {
		t.Run(name, func(t *testing.T) { run(t, start(t)) })
	}
}

// Faults of others: lag was shown as 0 with a backlog, or as a backlog where there was none, in partitions that were
// never committed. All eight.
func noCommitIsNotAmbiguous(t *testing.T, k *kafka) {
	for i, c := range []struct {
		latest, committed bool // with a commit, 10 records were read
		backlog           int  // and so many are not
		want              int64
	}{
		{latest: true, committed: false, backlog: 0, want: 0},
		{latest: true, committed: false, backlog: 20, want: 0},
		{latest: true, committed: true, backlog: 0, want: 0},
		{latest: true, committed: true, backlog: 20, want: 20},
		{latest: false, committed: false, backlog: 0, want: 0},
		{latest: false, committed: false, backlog: 20, want: 20},
		{latest: false, committed: true, backlog: 0, want: 0},
		{latest: false, committed: true, backlog: 20, want: 20},
	} {
		t.Run(fmt.Sprintf("latest=%t committed=%t backlog=%d", c.latest, c.committed, c.backlog), func(t *testing.T) {
			topic := fmt.Sprintf("t%d", i)
			k.topic(t, topic, 1)
			if c.committed {
				k.produce(t, topic, 0, 10)
				k.commit(t, topic, 0, 10)
			}
			k.produce(t, topic, 0, c.backlog)
			q := k.ask(topic)
			q.Start.Latest = c.latest
			got, err := k.read(t, q)
			if err != nil || got.Sum() != c.want {
				t.Errorf("lag %d %v, want %d", got.Sum(), err, c.want)
			}
		})
	}
	t.Run("an empty partition has no lag, wherever one starts", func(t *testing.T) {
		k.topic(t, "empty", 3)
		for _, s := range []Start{{}, {Latest: true}, {At: time.Now().Add(-time.Hour)}} {
			got, err := k.read(t, Query{Group: k.group, Topics: []string{k.name("empty")}, Start: s})
			if err != nil || got.Sum() != 0 || len(got.Partitions) != 3 {
				t.Errorf("%+v: %+v %v", s, got, err)
			}
		}
	})
}

func positions(t *testing.T, k *kafka) {
	cases := []struct {
		name             string
		produce, deleted int
		committed        int64 // -1 for none
		start            Start
		want             Partition
	}{
		{"committed below the log start: only what is left counts", 520, 500, 10, Start{}, Partition{Start: 500, End: 520, Committed: 10, Lag: 20}},
		{"committed beyond the end (a topic made anew) is no lag", 5, 0, 500, Start{}, Partition{End: 5, Committed: 500}},
		{"never committed, some deleted", 30, 10, -1, Start{}, Partition{Start: 10, End: 30, Committed: None, Lag: 20}},
		{"committed at 0 is not the same as never", 30, 0, 0, Start{Latest: true}, Partition{End: 30, Lag: 30}},
		{"all is deleted", 30, 30, 10, Start{}, Partition{Start: 30, End: 30, Committed: 10}},
		{"committed in full", 30, 0, 30, Start{}, Partition{End: 30, Committed: 30}},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			topic := fmt.Sprintf("positions-%d", i)
			k.topic(t, topic, 1)
			k.produce(t, topic, 0, c.produce)
			if c.deleted > 0 {
				k.deleteUpTo(t, topic, 0, int64(c.deleted))
			}
			if c.committed >= 0 {
				k.commit(t, topic, 0, c.committed)
			}
			c.want.Topic = k.name(topic)
			q := k.ask(topic)
			q.Start = c.start
			got, err := k.read(t, q)
			if err != nil || !slices.Equal(got.Partitions, []Partition{c.want}) {
				t.Errorf("got %+v %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func startAtATime(t *testing.T, k *kafka) {
	k.topic(t, "orders", 3)
	noon := time.Now().Add(-3 * time.Hour).Truncate(time.Millisecond) // old records would fall to retention
	for p := range int32(3) {
		k.produceAt(t, "orders", p, 10, noon)
		k.produceAt(t, "orders", p, 5, noon.Add(time.Hour))
	}
	k.commit(t, "orders", 2, 1)
	for name, c := range map[string]struct {
		at   time.Time
		want []int64
	}{
		"between":         {noon.Add(time.Minute), []int64{5, 5, 14}},
		"before all":      {noon.Add(-time.Minute), []int64{15, 15, 14}},
		"after all":       {noon.Add(2 * time.Hour), []int64{0, 0, 14}},
		"exactly at some": {noon.Add(time.Hour), []int64{5, 5, 14}},
	} {
		q := k.ask("orders")
		q.Start.At = c.at
		got, err := k.read(t, q)
		if err != nil || len(got.Partitions) != 3 {
			t.Fatalf("%s: %+v %v", name, got, err)
		}
		for i, want := range c.want {
			if got.Partitions[i].Lag != want {
				t.Errorf("%s: partition %d: lag %d, want %d", name, i, got.Partitions[i].Lag, want)
			}
		}
	}
}

// Faults of others: a group that has read all transactions showed lag for ever. The end is the last stable offset, and
// open transactions do not count.
func transactions(t *testing.T, k *kafka) {
	k.topic(t, "orders", 1)
	client := k.connect(t, kgo.TransactionalID(k.name("tx")))
	transaction := func(end kgo.TransactionEndTry) {
		t.Helper()
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: k.name("orders"), Value: []byte("x")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		transaction(i%3 != 0) // some are aborted
	}
	// Each transaction is a record and a marker; the feed commits past markers.
	k.commit(t, "orders", 0, 20)
	got, err := k.read(t, k.ask("orders"))
	if err != nil || got.Sum() != 0 || got.Partitions[0].End != 20 {
		t.Errorf("all read: %+v %v", got, err)
	}

	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: k.name("orders"), Value: []byte("open")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	got, err = k.read(t, k.ask("orders"))
	if err != nil || got.Sum() != 0 {
		t.Errorf("an open transaction cannot be read yet and is no lag: %+v %v", got, err)
	}
	if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	// The broker writes the marker after it has answered.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if got, err = k.read(t, k.ask("orders")); err == nil && got.Sum() == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("committed: %+v %v, want the record and its marker", got, err)
		}
	}
}

func topicsByExpression(t *testing.T, k *kafka) {
	for _, name := range []string{"orders-eu", "orders-us", "returns"} {
		k.topic(t, name, 2)
		k.produce(t, name, 1, 3)
	}
	q := Query{Group: k.group, Regex: regexp.MustCompile("^" + k.name("orders-") + ".*$")}
	got, err := k.read(t, q)
	if err != nil || got.Sum() != 6 || got.WithLag() != 2 || len(got.Partitions) != 4 {
		t.Errorf("%+v %v", got, err)
	}
	q.Regex = regexp.MustCompile("^nothing$")
	if got, err = k.read(t, q); err != nil || len(got.Partitions) != 0 {
		t.Errorf("an expression that matches nothing: %+v %v", got, err)
	}
}

// Faults of others: a failed reading was taken for 0, and everything scaled in. More of this in faults_test.go.
func aMissingTopicIsUnknown(t *testing.T, k *kafka) {
	k.topic(t, "orders", 4)
	k.produce(t, "orders", 0, 5)
	got, err := k.read(t, k.ask("orders", "gone"))
	if !errors.Is(err, kerr.UnknownTopicOrPartition) || !strings.Contains(err.Error(), "topic "+k.name("gone")) {
		t.Errorf("error: %v", err)
	}
	if got.Sum() != 5 || len(got.Partitions) != 4 {
		t.Errorf("what is known: %+v", got)
	}
	if topics, err := k.admin.ListTopics(t.Context()); err != nil || topics.Has(k.name("gone")) {
		t.Errorf("asking for its lag has made the topic: %v", err)
	}
}

func noTopicsMeansNoneAndNotAll(t *testing.T, k *kafka) {
	k.topic(t, "orders", 1)
	got, err := k.read(t, k.ask())
	if err != nil || len(got.Partitions) != 0 {
		t.Errorf("%+v %v", got, err)
	}
}
