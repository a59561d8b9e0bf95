package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/config"
)

var update = flag.Bool("update", false, "rewrite the generated files and the wanted errors")

// environment is what «${NAME}» stands for in testdata.
var environment = map[string]string{
	"BATCH": "ten", "PORT": "9092", "GROUP": "hush", "TOKEN": "s3cr3t", "SIZE": "50", "EMPTY": "",
}

// options are those of all files of testdata: a fixed time, the environment above, and certificates made on the spot.
func options() config.Options {
	return config.Options{
		LookupEnv: func(name string) (string, bool) { v, ok := environment[name]; return v, ok },
		Now:       time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		ReadFile: func(name string) ([]byte, error) {
			cert, key := certificate()
			switch filepath.ToSlash(name) {
			case "testdata/tls/ca.pem", "testdata/tls/client.pem":
				return cert, nil
			case "testdata/tls/client.key":
				return key, nil
			}
			return os.ReadFile(name)
		},
	}
}

// certificate returns a certificate and its key, made once.
var certificate = sync.OnceValues(func() (cert, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		panic(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
})

// load loads one file of testdata and returns its errors without the file's name in front.
func load(t *testing.T, file string) (*config.Config, []string) {
	t.Helper()
	c, err := config.Load([]string{file}, options())
	if err == nil {
		return c, nil
	}
	var all config.Errors
	if !errors.As(err, &all) || c != nil {
		t.Fatalf("got %v and %T, want no configuration and config.Errors", c, err)
	}
	var lines []string
	for _, e := range all {
		lines = append(lines, strings.ReplaceAll(strings.TrimPrefix(e.Error(), file+":"), file, filepath.Base(file)))
	}
	return nil, lines
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return list
}

// wanted splits a file into the errors that its first lines want and the rest.
func wanted(t *testing.T, file string) (wants []string, rest string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rest = string(data)
	for {
		line, after, _ := strings.Cut(rest, "\n")
		want, ok := strings.CutPrefix(line, "# want: ")
		if !ok {
			return wants, rest
		}
		wants, rest = append(wants, want), after
	}
}

// TestEachBadFileHasItsErrors loads one file per mistake. «go test ./config -update» writes what each file's errors are now
// into its first lines; as many as there were, since they move the others' line numbers.
func TestEachBadFileHasItsErrors(t *testing.T) {
	for _, file := range files(t, "testdata/*.bad.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			wants, rest := wanted(t, file)
			_, got := load(t, file)
			if *update && len(got) == len(wants) {
				text := "# want: " + strings.Join(got, "\n# want: ") + "\n" + rest
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !slices.Equal(got, wants) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(wants, "\n  "))
			}
		})
	}
}

func TestTheFileWithTenMistakesShowsAllTen(t *testing.T) {
	if _, got := load(t, "testdata/ten-mistakes.bad.yaml"); len(got) != 10 {
		t.Errorf("got %d mistakes, want 10:\n%s", len(got), strings.Join(got, "\n"))
	}
}

func TestGoodFilesHaveNoErrors(t *testing.T) {
	for _, file := range files(t, "testdata/*.good.yaml") {
		if _, got := load(t, file); got != nil {
			t.Errorf("%s: got\n  %s", file, strings.Join(got, "\n  "))
		}
	}
}

func TestValuesFromOutsideAndPasswordsAreInNoError(t *testing.T) {
	for _, file := range files(t, "testdata/*.bad.yaml") {
		_, got := load(t, file)
		for _, line := range got {
			for _, secret := range []string{"s3cr3t", "hush", "8675309", `"ten"`, "user:word"} {
				if strings.Contains(line, secret) {
					t.Errorf("%s: %q is in %q", file, secret, line)
				}
			}
		}
	}
}
