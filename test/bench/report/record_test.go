package report

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func example() *Record {
	return &Record{Sections: []Section{
		{
			Bench: "throughput", Command: "go run ./test/bench -only throughput", Date: "2026-01-02", Commit: "abc", Machine: "2 × CPU",
			Notes: []string{"A note."},
			Figures: []Figure{
				{Case: "1 × 1 KiB", Name: "records/s", Better: More, Beside: "loop", By: Ratio, Values: []float64{60_000, 66_000}, Others: []float64{75_000, 75_000}},
				{Case: "1 × 1 KiB", Name: "CPU", Unit: "s", Better: Less, Beside: "loop", By: Ratio, Values: []float64{12}, Others: []float64{10}},
				{Case: "100 × 1 KiB", Name: "records/s", Better: More, Beside: "loop", By: Ratio, Values: []float64{551_110}, Others: []float64{612_340}},
				{Case: "100 × 1 KiB", Name: "CPU", Unit: "s", Better: Less, Beside: "loop", By: Ratio, Values: []float64{2}, Others: []float64{2}},
			},
		},
		{Bench: "idle", Figures: []Figure{
			{Case: "a mapping", Name: "heap", Unit: "KiB", Better: Less, Beside: "bare client", By: Difference, Values: []float64{300}, Others: []float64{200}},
			{Case: "a mapping", Name: "connections", Better: Less, Values: []float64{3}},
		}},
	}}
}

func TestARecordComesBackFromItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.json")
	want := example()
	if err := want.Save(file); err != nil {
		t.Fatal(err)
	}
	got, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	text, _ := want.encode()
	if lines := strings.Count(string(text), `{"case":`); lines != 6 || !strings.Contains(string(text), "\n    {\"case\":") {
		t.Errorf("%d figures have their line in:\n%s", lines, text)
	}
	if none, err := Load(filepath.Join(t.TempDir(), "none.json")); err != nil || len(none.Sections) > 0 {
		t.Errorf("no file: %v, %v; want an empty record", none, err)
	}
}

func TestRoundedToFiveDigits(t *testing.T) {
	got := rounded([]float64{0, 0.30000000000000004, 123.456789, -1.234567, 615_123.45, 1e-7})
	if want := []float64{0, 0.3, 123.46, -1.2346, 615_120, 1e-7}; !reflect.DeepEqual(got, want) {
		t.Errorf("rounded = %v, want %v", got, want)
	}
}

func TestPutAndArrange(t *testing.T) {
	r := example()
	r.Put(Section{Bench: "latency"})
	r.Put(Section{Bench: "idle", Date: "today"})
	r.Arrange([]string{"latency", "throughput"})
	var got []string
	for _, s := range r.Sections {
		got = append(got, s.Bench+s.Date)
	}
	if want := "latency throughput2026-01-02 idletoday"; strings.Join(got, " ") != want {
		t.Errorf("sections %q, want %q", got, want)
	}
}

func TestTargets(t *testing.T) {
	targets := []Target{
		{"throughput", "1 × 1 KiB", "records/s", 0.84},
		{"throughput", "1 × 1 KiB", "records/s", 0.85},
		{"throughput", "1 × 1 KiB", "CPU", 1.2},
		{"idle", "a mapping", "heap", 99},
		{"idle", "a mapping", "connections", 4},
		{"idle", "a mapping", "threads", 4},
	}
	var met []bool
	for _, r := range Judge(example(), targets) {
		met = append(met, r.Met())
	}
	if want := []bool{true, false, true, false, true, false}; !reflect.DeepEqual(met, want) {
		t.Errorf("met %v, want %v", met, want)
	}
	text := Summary(example(), targets)
	for _, want := range []string{
		"6 targets: 3 met, 2 missed, 1 not measured.",
		"| 1 × 1 KiB: records/s beside the loop | at least 0.85 | 0.84 | **missed** | `-only throughput` |",
		"| a mapping: heap beside the bare client | at most +99.00 KiB | +100.00 KiB | **missed** |",
		"| a mapping: connections | at most 4 | 3 | met |",
		"| a mapping: threads | 4 | | not measured | `-only idle` |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

func TestTables(t *testing.T) {
	r := example()
	for i, wants := range [][]string{
		{
			"`go run ./test/bench -only throughput`  \n2026-01-02; 2 × CPU; commit abc.\n",
			"| | records/s: loop | Sluice | ratio | CPU, s: loop | Sluice | ratio |\n",
			"| 100 × 1 KiB | 612 300 | 551 100 | **0.90** | 2 | 2 | **1.00** |\n", "\nA note.\n",
		},
		{
			"| | | bare client | Sluice | |\n", "| a mapping | heap, KiB | 200 | 300 | **+100.00** |\n", "|  | connections | | **3** | |\n",
		},
	} {
		got := r.Sections[i].Markdown()
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in:\n%s", want, got)
			}
		}
	}
}

func TestFill(t *testing.T) {
	r := &Record{Sections: example().Sections[:1]}
	page := "# Title\n<!-- bench targets: begin -->\nold\n<!-- bench targets: end -->\n" +
		"<!-- bench throughput: begin -->\n<!-- bench throughput: end -->\n<!-- bench idle: begin -->\nkept\n<!-- bench idle: end -->\n"
	got, err := Fill([]byte(page), r, nil)
	if err != nil || !strings.Contains(string(got), "| 100 × 1 KiB |") || strings.Contains(string(got), "old") || !strings.Contains(string(got), "kept") {
		t.Errorf("Fill: %v\n%s", err, got)
	}
	again, err := Fill(got, r, nil)
	if err != nil || string(again) != string(got) {
		t.Errorf("a second Fill changed the page: %v\n%s", err, again)
	}
	if _, err := Fill([]byte("# Title\n"), r, nil); err == nil {
		t.Error("a page without places was taken")
	}
}
