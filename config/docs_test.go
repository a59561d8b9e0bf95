package config_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/sluicehq/sluice/config"
)

func TestUpToDateConfigurationPage(t *testing.T) {
	const page = "../docs/CONFIGURATION.md"
	if *update {
		if err := os.WriteFile(page, config.Markdown(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, config.Markdown()) {
		t.Errorf("%s is stale; write it with: go test ./config -update", page)
	}
}
