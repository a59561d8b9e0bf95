package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicehq/sluice/config"
)

// FuzzLoad feeds anything as a file: it must not panic, and what it says must be a configuration or mistakes with places.
func FuzzLoad(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range seeds {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Parse("fuzz.yaml", data, config.Options{
			LookupEnv: func(name string) (string, bool) { return name, len(name) < 5 },
			ReadFile:  func(name string) ([]byte, error) { return []byte(name), nil },
			Now:       time.Unix(1796033700, 0),
		})
		if err == nil {
			if c == nil {
				t.Fatal("neither a configuration nor mistakes")
			}
			return
		}
		var all config.Errors
		if !errors.As(err, &all) || len(all) == 0 || len(all) > config.ErrorsMax+1 {
			t.Fatalf("got %T with %d mistakes", err, len(all))
		}
		for _, e := range all {
			if e.Line < 1 || e.Col < 1 || e.Msg == "" {
				t.Fatalf("a mistake without its place or its text: %+v", e)
			}
		}
	})
}
