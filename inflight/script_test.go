package inflight

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/record"
)

var update = flag.Bool("update", false, "rewrite the transcripts' answers")

// TestTranscripts replays testdata/*.txt: a command, a line of dashes, what the set answered.
func TestTranscripts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no transcripts")
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { transcript(t, f) })
	}
}

func transcript(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sc := newScript()
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		var notes, cmds []string
		head, want, _ := strings.Cut(block, "\n----\n")
		for _, line := range strings.Split(head, "\n") {
			if strings.HasPrefix(line, "#") {
				notes = append(notes, line)
			} else {
				cmds = append(cmds, line)
			}
		}
		var got strings.Builder
		for _, c := range cmds {
			got.WriteString(sc.do(c))
		}
		answer := strings.TrimRight(got.String(), "\n")
		if answer != strings.TrimRight(want, "\n") && !*update {
			t.Errorf("%s: block %d: %s\ngot:\n%s\nwant:\n%s", file, i+1, strings.Join(cmds, "; "), answer, want)
		}
		if i > 0 {
			out.WriteString("\n")
		}
		for _, l := range append(notes, cmds...) {
			out.WriteString(l + "\n")
		}
		if len(cmds) > 0 {
			out.WriteString("----\n" + answer + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

type script struct {
	set    *Set
	now    time.Time
	start  time.Time
	leases map[string]*Lease
}

func newScript() *script {
	at := time.Unix(1_800_000_000, 0).UTC()
	return &script{now: at, start: at, leases: map[string]*Lease{}}
}

func (sc *script) do(line string) string {
	f := strings.Fields(line)
	kv := map[string]string{}
	for _, a := range f[1:] {
		if k, v, ok := strings.Cut(a, "="); ok {
			kv[k] = v
		}
	}
	num := func(k string, def int) int {
		if v, ok := kv[k]; ok {
			n, err := strconv.Atoi(v)
			if err != nil {
				panic(err)
			}
			return n
		}
		return def
	}
	dur := func(k string) time.Duration {
		d, _ := time.ParseDuration(kv[k])
		return d
	}
	switch f[0] {
	case "limits":
		sc.set = NewSet(Limits{BatchRecords: num("records", 10), BatchBytes: int64(num("bytes", 6<<20)), BatchingWindow: dur("window")}, plainSizes)
		return "ok\n"
	case "assign":
		sc.set.Assign(parseTP(f[1]), record.Offset(num("start", 0)), kv["committed"] != "no", sc.now)
		return "ok\n"
	case "admit":
		recs := records(parseTP(f[1]), f[2], num("size", 10))
		for _, r := range recs {
			r.LeaderEpoch = int32(num("epoch", 0))
		}
		sc.set.Admit(parseTP(f[1]), recs, sc.now)
		return sc.totals()
	case "pass":
		sc.set.Pass(parseTP(f[1]), record.Offset(num("to", 0)), int32(num("epoch", 0)), sc.now)
		return sc.totals()
	case "sleep":
		d, err := time.ParseDuration(f[1])
		if err != nil {
			panic(err)
		}
		sc.now = sc.now.Add(d)
		return fmt.Sprintf("now %s\n", sc.now.Sub(sc.start))
	case "acquire":
		l, at := sc.set.Acquire(sc.now, num("slots", 1))
		if l == nil && at.IsZero() {
			return "nothing\n"
		}
		if l == nil {
			return fmt.Sprintf("nothing before %s\n", at.Sub(sc.start))
		}
		id := fmt.Sprintf("L%d", l.ID)
		sc.leases[id] = l
		return fmt.Sprintf("%s %s bytes=%d encoded=%d\n", id, showRuns(l.Runs), l.Bytes, l.Encoded)
	case "settle":
		return sc.settle(f[1], f[2:])
	case "share":
		sc.set.Share(int64(num("bytes", 0)))
		return "ok\n"
	case "drain":
		sc.set.Drain(parseTP(f[1]))
		return sc.totals()
	case "remove":
		sc.set.Remove(parseTP(f[1]))
		return sc.totals()
	case "skip":
		sc.set.Skip(parseTP(f[1]), record.Offset(num("from", 0)), record.Offset(num("to", 0)), sc.now)
		return "ok\n"
	case "truncate":
		sc.set.Truncate(parseTP(f[1]), record.Offset(num("at", 0)), sc.now)
		return sc.totals()
	case "commits":
		var b strings.Builder
		cs := sc.set.Commits(nil)
		for _, st := range sc.set.States() { // sorted
			for _, c := range cs {
				if c.TopicPartition == st.TopicPartition {
					fmt.Fprintf(&b, "commit %s@%d", c.TopicPartition, c.Offset)
					if kv["epochs"] == "yes" {
						fmt.Fprintf(&b, " epoch %d", c.Epoch)
					}
					b.WriteByte('\n')
				}
			}
		}
		if kv["fail"] == "yes" {
			sc.set.Uncommitted(cs)
		}
		if len(cs) == 0 {
			return "none\n"
		}
		return b.String()
	case "state":
		var b strings.Builder
		for _, st := range sc.set.States() {
			fmt.Fprintf(&b, "%s %s commit=%d next=%d records=%d", st.TopicPartition, st.Phase, st.CommitPoint, st.Next, st.Records)
			if st.Head != nil {
				fmt.Fprintf(&b, " head=%d..%d", st.Head.First(), st.Head.Last())
			}
			fmt.Fprintf(&b, " moved=%s\n", st.Moved.Sub(sc.start))
		}
		return b.String()
	}
	panic("unknown command " + line)
}

// settle takes "L1 [retry offsets after=1s [retry …]]": retry names offsets of the lease's runs.
func (sc *script) settle(id string, args []string) string {
	l := sc.leases[id]
	retry := make([][]record.Run, len(l.Runs))
	for i := 0; i < len(args); i++ {
		tp, list, _ := strings.Cut(args[i+1], "@")
		d, err := time.ParseDuration(strings.TrimPrefix(args[i+2], "after="))
		if err != nil {
			panic(err)
		}
		i += 2
		want := map[int64]bool{}
		for _, r := range records(parseTP(tp), list, 0) {
			want[r.Offset] = true
		}
		for j := range l.Runs {
			if l.Runs[j].TopicPartition != parseTP(tp) {
				continue
			}
			run := record.Run{TopicPartition: parseTP(tp), Retry: &record.Retry{NotBefore: sc.now.Add(d)}}
			for _, r := range l.Runs[j].Records {
				if want[r.Offset] {
					run.Records = append(run.Records, r)
				}
			}
			retry[j] = append(retry[j], run)
		}
	}
	settled, stale := sc.set.Settle(l, retry, sc.now)
	return fmt.Sprintf("settled=%d stale=%d; %s", settled, stale, sc.totals())
}

func (sc *script) totals() string {
	return fmt.Sprintf("held records=%d bytes=%d leases=%d\n", sc.set.Records(), sc.set.Bytes(), sc.set.Leases())
}

func parseTP(s string) record.TopicPartition {
	i := strings.LastIndex(s, "-")
	p, err := strconv.Atoi(s[i+1:])
	if err != nil {
		panic(err)
	}
	return record.TopicPartition{Topic: s[:i], Partition: int32(p)}
}

// records makes records from "0..9,c10,12": offsets, ranges, and control records marked by c.
func records(tp record.TopicPartition, list string, size int) []*record.Record {
	var out []*record.Record
	for _, part := range strings.Split(list, ",") {
		control := strings.HasPrefix(part, "c")
		lo, hi, ok := strings.Cut(strings.TrimPrefix(part, "c"), "..")
		if !ok {
			hi = lo
		}
		a, _ := strconv.Atoi(lo)
		b, _ := strconv.Atoi(hi)
		for o := a; o <= b; o++ {
			r := &record.Record{Topic: tp.Topic, Partition: tp.Partition, Offset: int64(o), Value: make([]byte, size)}
			if control {
				r.Attrs = controlAttrs
			}
			out = append(out, r)
		}
	}
	return out
}

var controlAttrs = kgo.NewRecordAttrs(kgo.RecordAttrsOpts{Control: true})

func showRuns(runs []record.Run) string {
	var parts []string
	for i := range runs {
		var offs []string
		recs := runs[i].Records
		for a := 0; a < len(recs); {
			b := a
			for b+1 < len(recs) && recs[b+1].Offset == recs[b].Offset+1 {
				b++
			}
			if a == b {
				offs = append(offs, fmt.Sprint(recs[a].Offset))
			} else {
				offs = append(offs, fmt.Sprintf("%d..%d", recs[a].Offset, recs[b].Offset))
			}
			a = b + 1
		}
		parts = append(parts, runs[i].TopicPartition.String()+"@"+strings.Join(offs, ","))
	}
	return strings.Join(parts, " ")
}

// plainSizes: 100 bytes an event, 10 a run, 20 and the value a record.
var plainSizes = Sizes{
	Event:  100,
	Run:    func(record.TopicPartition) int { return 10 },
	Record: func(r *record.Record) int { return 20 + len(r.Value) },
}
