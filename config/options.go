package config

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Options is what a configuration depends on beside its files.
type Options struct {
	// LookupEnv answers «${NAME}»; nil knows no variable. cmd passes os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// ReadFile reads «${file:PATH}» and the certificates; nil reads from the file system, at most [FileBytesMax].
	ReadFile func(name string) ([]byte, error)
	// Now is the time that startingPositionTimestamp may not lie behind; zero is the time of the call.
	Now time.Time
}

// The bounds of one Load. They are far from what people write by hand, and keep a hostile file from taking the machine.
const (
	// FileBytesMax is the most bytes of one file, YAML or other.
	FileBytesMax = 1 << 20
	// FilesMax is the most files, those of folders included.
	FilesMax = 1000
	// NodesMax is the most values of all files together, anchors and defaults expanded.
	NodesMax = 200_000
	// DepthMax is the deepest nesting.
	DepthMax = 64
	// KeyBytesMax is the longest key.
	KeyBytesMax = 256
	// ErrorsMax is the most mistakes that are shown.
	ErrorsMax = 1000
	// ExpandedBytesMax is the most bytes that all «${…}» together may stand for.
	ExpandedBytesMax = 16 << 20
)

func (o Options) withDefaults() Options {
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	if o.ReadFile == nil {
		o.ReadFile = readFile
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return o
}

// readFile reads a file of at most FileBytesMax.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	data, err := io.ReadAll(io.LimitReader(f, FileBytesMax+1))
	if err == nil && len(data) > FileBytesMax {
		err = fmt.Errorf("is larger than %d bytes", FileBytesMax)
	}
	return data, err
}
