package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
)

// Section is what one benchmark measured, when, where and how.
type Section struct {
	// Bench is the benchmark's name, Command what repeats it, with these settings.
	Bench   string `json:"bench"`
	Command string `json:"command"`
	// Date is when it ended, in UTC; Commit is what was measured, with -dirty behind it if the tree was changed.
	Date   string `json:"date"`
	Commit string `json:"commit"`
	// Machine says where; Load is how many processes wanted to run before it began, on average over a minute.
	Machine string `json:"machine"`
	Load    string `json:"load,omitempty"`
	// Setup says how it was measured where the figures do not; Notes are footnotes.
	Setup string   `json:"setup,omitempty"`
	Notes []string `json:"notes,omitempty"`
	// Figures are in the order of the tables.
	Figures []Figure `json:"figures"`
}

// find returns the figure, or nil.
func (s *Section) find(k key) *Figure {
	for i := range s.Figures {
		if s.Figures[i].key() == k {
			return &s.Figures[i]
		}
	}
	return nil
}

// Record holds the newest section of each benchmark. Sections may be of different days.
type Record struct {
	Sections []Section `json:"sections"`
}

// Find returns a benchmark's section, or nil.
func (r *Record) Find(bench string) *Section {
	for i := range r.Sections {
		if r.Sections[i].Bench == bench {
			return &r.Sections[i]
		}
	}
	return nil
}

// Put replaces the section of its benchmark; a new one goes to the end.
func (r *Record) Put(s Section) {
	if old := r.Find(s.Bench); old != nil {
		*old = s
		return
	}
	r.Sections = append(r.Sections, s)
}

// Arrange brings the sections into the order of the names; others follow.
func (r *Record) Arrange(names []string) {
	place := func(s Section) int {
		if i := slices.Index(names, s.Bench); i >= 0 {
			return i
		}
		return len(names)
	}
	slices.SortStableFunc(r.Sections, func(a, b Section) int { return place(a) - place(b) })
}

// Load reads a record; a file that is not there is an empty one.
func Load(file string) (*Record, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &Record{}, nil
	}
	if err != nil {
		return nil, err
	}
	var r Record
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &r, nil
}

// Save writes the record so that a change of it reads well: a line for each figure.
func (r *Record) Save(file string) error {
	text, err := r.encode()
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

func (r *Record) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\"sections\": [")
	for i := range r.Sections {
		head := r.Sections[i]
		head.Figures = nil
		text, err := json.MarshalIndent(head, "", "  ")
		if err != nil {
			return nil, err
		}
		text = bytes.TrimSuffix(text, []byte("null\n}"))
		b.WriteString(separator(i) + "\n")
		b.Write(text)
		b.WriteString("[")
		for j, f := range r.Sections[i].Figures {
			f.Values, f.Others = rounded(f.Values), rounded(f.Others)
			line, err := json.Marshal(f)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", f.Case, f.Name, err)
			}
			b.WriteString(separator(j) + "\n    ")
			b.Write(line)
		}
		b.WriteString("\n  ]\n}")
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// rounded keeps five digits: more than any of these measurements has.
func rounded(values []float64) []float64 {
	out := slices.Clone(values)
	for i, v := range out {
		if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-4)
		if unit >= 1 {
			out[i] = math.Round(v/unit) * unit
		} else {
			out[i] = math.Round(v*(1/unit)) / math.Round(1/unit)
		}
	}
	return out
}
