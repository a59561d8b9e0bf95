package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/mapping"
)

func TestEveryKeyReachesItsField(t *testing.T) {
	c, errs := load(t, "testdata/every-key.good.yaml")
	if errs != nil {
		t.Fatal(errs)
	}
	if want := (config.Server{Listen: "[::1]:0", DrainTimeout: 90 * time.Second}); c.Server != want {
		t.Errorf("got %+v, want %+v", c.Server, want)
	}
	wantCluster := config.Cluster{
		Name: "main", BootstrapServers: []string{"broker1:9092", "[::1]:9093"},
		TLS: &config.TLS{
			CAFile: "testdata/tls/ca.pem", CertFile: "testdata/tls/client.pem", KeyFile: "testdata/tls/client.key",
			ServerName: "kafka.example.com",
		},
		SASL:  &config.SASL{Mechanism: config.ScramSHA512, Username: "svc", Password: c.Clusters["main"].SASL.Password},
		ARN:   "arn:aws:kafka:eu-west-1:123456789012:cluster/demo/0a1b2c3d-1111-2222-3333-444455556666-7",
		Place: c.Clusters["main"].Place,
	}
	if got := c.Clusters["main"]; !reflect.DeepEqual(got, wantCluster) {
		t.Errorf("got %+v, want %+v", got, wantCluster)
	}
	if got := c.Clusters["main"].SASL.Password; got.Reveal() != "s3cr3t" || !got.FromFile() {
		t.Errorf("got password %q, want that of the file", got.Reveal())
	}
	wantOAuth := &config.OAuth{
		TokenEndpointURL: "https://idp.example.com/token", TokenEndpointCAFile: "testdata/tls/ca.pem", ClientID: "svc",
		ClientSecret: c.Clusters["oauth"].SASL.OAuth.ClientSecret, Scope: "kafka.read kafka.write", Audience: "kafka",
		Extensions: map[string]string{"logicalCluster": "lkc-1", "identityPoolId": "pool-2"},
	}
	if got := c.Clusters["oauth"].SASL; got.Mechanism != config.OAuthBearer || !reflect.DeepEqual(got.OAuth, wantOAuth) || got.OAuth.ClientSecret.Reveal() != "s3cr3t" {
		t.Errorf("got %+v, want %+v", got.OAuth, wantOAuth)
	}
	if got := c.Clusters["iam"].SASL; got.Mechanism != config.MSKIAM || got.Region != "eu-west-1" || got.OAuth != nil {
		t.Errorf("got %+v", got)
	}
	if got := c.Clusters["scram"].SASL.Password.Reveal(); got != "${literal}" {
		t.Errorf("got password %q, want the text behind $${", got)
	}
	if got := c.Clusters["plain"]; got.TLS == nil || got.BootstrapServers[0] != "broker2:9092" {
		t.Errorf("got %+v, want TLS and the port from the environment", got)
	}
	if f := c.Functions["orders"]; f.URL != "https://orders.example.com/invoke?token=s3cr3t" || f.Timeout != 15*time.Minute || f.ErrorDetection != config.DetectHeader {
		t.Errorf("got %+v", f)
	}
	wantTLS := &config.TLS{
		CAFile: "testdata/tls/ca.pem", CertFile: "testdata/tls/client.pem", KeyFile: "testdata/tls/client.key", ServerName: "orders.internal",
	}
	if f := c.Functions["orders"]; !reflect.DeepEqual(f.TLS, wantTLS) || len(f.Headers) != 2 ||
		f.Headers["Authorization"].Reveal() != "Bearer s3cr3t" || !f.Headers["Authorization"].FromFile() || f.Headers["X-Team"].FromFile() {
		t.Errorf("got %+v and %+v", f.TLS, f.Headers)
	}
	want := mapping.New("orders", "orders", "main", "orders", "returns")
	want.ConsumerGroupID = "orders/v2:hush"
	want.Enabled = false
	want.BatchSize = 50
	want.BatchingWindow = 0
	want.StartingPosition = mapping.AtTimestamp
	want.StartingPositionTimestamp = time.Date(2026, 11, 30, 10, 15, 0, 0, time.UTC)
	want.Filters = []string{`{"value":{"status":["created",{"prefix":"re"}]}}`, `{"key":["k"]}`}
	want.FilterMismatch = mapping.FilterMismatchDrop
	want.MaximumRetryAttempts = 3
	want.MaximumRecordAge = time.Minute
	want.BisectBatchOnFunctionError = true
	want.ReportBatchItemFailures = true
	want.OnFailure = mapping.Destination{URI: "kafka://plain/orders-dlq", Format: mapping.FormatAWS}
	want.Retry = mapping.Retry{InitialBackoff: 100 * time.Millisecond, MaximumBackoff: 30 * time.Second}
	want.Provisioned, want.MinimumPollers, want.MaximumPollers = true, 200, 2000
	want.PollerThroughput, want.PollerConcurrency = 0, 10
	want.TargetDrainTime = 90 * time.Second
	want.MaximumBatchBytes = 1 << 20
	want.Metrics = []mapping.MetricGroup{mapping.MetricsEventCount, mapping.MetricsErrorCount, mapping.MetricsKafka}
	if got, _ := c.Mapping("orders"); !got.Equal(&want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if place := c.MappingPlace("orders"); place.Line != 38 || place.Col != 5 {
		t.Errorf("got place %s, want line 38, column 5", place)
	}
	wantFiles := []string{"every-key.good.yaml", "secret.txt", "tls/ca.pem", "tls/client.key", "tls/client.pem"}
	for i, f := range c.Files {
		if rel, _ := filepath.Rel("testdata", f); i >= len(wantFiles) || filepath.ToSlash(rel) != wantFiles[i] {
			t.Errorf("got files %q, want %q in testdata", c.Files, wantFiles)
			break
		}
	}
}

func TestDefaultsCompleteMappings(t *testing.T) {
	c, errs := load(t, "testdata/defaults.good.yaml")
	if errs != nil {
		t.Fatal(errs)
	}
	first, _ := c.Mapping("first")
	if want := (mapping.Retry{InitialBackoff: 2 * time.Second, MaximumBackoff: 5 * time.Second}); first.Retry != want {
		t.Errorf("objects are completed member by member: got %+v, want %+v", first.Retry, want)
	}
	if first.BatchSize != 10 || first.MaximumRetryAttempts != mapping.RetriesWithDestination || first.StartingPositionTimestamp.UnixMilli() != 1764500000500 {
		t.Errorf("got %+v", first)
	}
	second, _ := c.Mapping("second")
	if !slices.Equal(second.Topics, []string{"returns"}) {
		t.Errorf("lists are taken whole: got %q", second.Topics)
	}
	if second.BatchSize != mapping.DefaultBatchSize || second.StartingPosition != mapping.TrimHorizon || !second.OnFailure.IsZero() {
		t.Errorf("null undoes a default: got %+v", second)
	}
}

func TestMergeKeysKeepTheirOrder(t *testing.T) {
	c, errs := load(t, "testdata/anchors.good.yaml")
	if errs != nil {
		t.Fatal(errs)
	}
	returns, _ := c.Mapping("returns")
	copies, _ := c.Mapping("copies")
	if returns.BatchSize != 7 || returns.Function != "orders" || returns.Retry.InitialBackoff != 5*time.Second {
		t.Errorf("got %+v", returns)
	}
	if copies.Cluster != "copy" || copies.BatchSize != 3 || copies.Retry.MaximumBackoff != 6*time.Second {
		t.Errorf("got %+v", copies)
	}
}

// write makes files of a temporary folder, and returns the folder.
func write(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFolderIsOneConfiguration(t *testing.T) {
	dir := write(t, map[string]string{
		"a.yaml":        "clusters: {main: {bootstrapServers: [\"b:9092\"]}}\nserver: {drainTimeout: 5s}\n",
		"b.yml":         "functions: {f: {url: \"http://h/\"}}\nserver: {listen: \"127.0.0.1:1\"}\ndefaults: {batchSize: 5}\nmappings: [{name: b, function: f, cluster: main, topics: [b]}]\n",
		"c.yaml":        "mappings: [{name: c, function: f, cluster: main, topics: [c]}]\n",
		"notes.txt":     "not: [yaml",
		".hidden.yaml":  "not: [yaml",
		"sub/deep.yaml": "not: [yaml",
	})
	c, err := config.Load([]string{dir, filepath.Join(dir, "c.yaml")}, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := c.Mapping("b")
	other, _ := c.Mapping("c")
	if c.Server.DrainTimeout != 5*time.Second || c.Server.Listen != "127.0.0.1:1" || b.BatchSize != 5 || other.BatchSize != 100 || len(c.Mappings) != 2 {
		t.Errorf("got %+v", c)
	}
}

func TestMistakesOverSeveralFilesNameBothPlaces(t *testing.T) {
	dir := write(t, map[string]string{
		"a.yaml": "clusters: {main: {bootstrapServers: [\"b:9092\"]}}\nfunctions: {f: {url: \"http://h/\"}}\nserver: {drainTimeout: 5s}\nmappings: [{name: a, function: f, cluster: main, topics: [a]}]\n",
		"b.yaml": "clusters: {main: {bootstrapServers: [\"b:9092\"]}}\nserver: {drainTimeout: 6s}\nmappings: [{name: a, function: f, cluster: main, topics: [b]}]\n",
	})
	_, err := config.Load([]string{dir}, config.Options{})
	var all config.Errors
	errors.As(err, &all)
	got := strings.ReplaceAll(fmt.Sprint(err), dir+string(filepath.Separator), "")
	want := `b.yaml:1:12: clusters.main: is there twice, first at a.yaml:1:12
b.yaml:2:10: server.drainTimeout: is there twice, first at a.yaml:3:10
b.yaml:3:19: mappings[0].name: "a" is the name of another mapping, at a.yaml:4:19`
	if got != want || len(all) != 3 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAFileThatCannotBeReadHidesNoMistakesAndMakesNone(t *testing.T) {
	dir := write(t, map[string]string{
		"a.yaml": "mappings: [{name: a, function: f, cluster: main, topics: [a], batchSize: 0}]\n",
		"b.yaml": "clusters: [",
	})
	_, err := config.Load([]string{dir, filepath.Join(dir, "none.yaml"), t.TempDir()}, config.Options{})
	var all config.Errors
	if !errors.As(err, &all) || len(all) != 4 {
		t.Errorf("got %v, want the batch size, the broken YAML, the missing file and the empty folder, and no unknown cluster", err)
	}
}

func TestAMissingFileMakesNoUnknownClusters(t *testing.T) {
	dir := write(t, map[string]string{"a.yaml": "mappings: [{name: a, function: f, cluster: main, topics: [a]}]\n"})
	_, err := config.Load([]string{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "clusters.yaml")}, config.Options{})
	var all config.Errors
	if !errors.As(err, &all) || len(all) != 1 || !strings.HasSuffix(err.Error(), "clusters.yaml: cannot be read: no such file or directory") {
		t.Errorf("got %v", err)
	}
}

func TestLoadIsBounded(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	long := strings.Repeat("k", config.KeyBytesMax+1)
	cases := map[string]struct{ text, want string }{
		"values that multiply through anchors": {bomb, "values too many"},
		"deep nesting":                         {"a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested too deep"},
		"a long key":                           {long + ": 1", "is longer than 256 bytes"},
		"mistakes without end":                 {"mappings: [" + strings.Repeat("{a: 1}, ", 2000) + "]", "more mistakes"},
		"defaults that multiply":               {"defaults: {" + keys(1000) + "}\nmappings: [" + strings.Repeat("{}, ", 1000) + "]", "too many values"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := config.Parse("f.yaml", []byte(c.text), config.Options{})
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "one value too many", "values too many"), c.want) {
				t.Errorf("got %.300v, want «%s»", err, c.want)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1, ", i)
	}
	return b.String()
}

func TestASecretShowsItselfNowhere(t *testing.T) {
	s := config.SASL{Mechanism: config.Plain, Username: "u", Password: config.NewSecret("s3cr3t")}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "sasl", s, "password", s.Password)
	for _, shown := range []string{
		string(text), log.String(), fmt.Sprintf("%v %+v %#v %s %q %x %d", s, s, s, s.Password, s.Password, s.Password, s.Password),
		fmt.Sprint(s.Password, &s),
	} {
		if strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "733363723374") || !strings.Contains(shown, "[secret]") {
			t.Errorf("got %q", shown)
		}
	}
	if s.Password.Reveal() != "s3cr3t" || (config.Secret{}).String() != "" || !(config.Secret{}).IsZero() {
		t.Error("a secret is not what was put into it")
	}
}

func TestTheErrorsAreErrorsOneByOne(t *testing.T) {
	_, err := config.Parse("f.yaml", []byte("server: {listen: 5}\n"), config.Options{})
	var one *config.Error
	if !errors.As(err, &one) || one.Path != "server.listen" || one.Line != 1 || one.Col != 18 || one.File != "f.yaml" || one.Hint != "write it in quotes" {
		t.Errorf("got %+v", one)
	}
}

// Fault 114: a password is rotated in its file; its reader has the new one without a new Load.
func TestASecretOfAFileIsReadAgain(t *testing.T) {
	dir := write(t, map[string]string{
		"a.yaml":   "clusters: {main: {bootstrapServers: [\"b:9092\"], sasl: {mechanism: PLAIN, username: u, password: \"${PREFIX}-${file:password}\"}}}\n",
		"password": "one\n",
	})
	c, err := config.Load([]string{filepath.Join(dir, "a.yaml")}, config.Options{
		LookupEnv: func(string) (string, bool) { return "p", true },
	})
	if err != nil {
		t.Fatal(err)
	}
	secret, file := c.Clusters["main"].SASL.Password, filepath.Join(dir, "password")
	for _, step := range []struct {
		do          func() error
		want, wrong string
	}{
		{func() error { return nil }, "p-one", ""},
		{func() error { return os.WriteFile(file, []byte("two\n"), 0o600) }, "p-two", ""},
		{func() error { return os.Remove(file) }, "p-two", "cannot be read"},
		{func() error { return os.WriteFile(file, []byte(strings.Repeat("x", 5000)), 0o600) }, "p-two", "is longer than 4096 characters"},
		{func() error {
			if err := os.WriteFile(filepath.Join(dir, "next"), []byte("three"), 0o600); err != nil {
				return err
			}
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Symlink("next", file)
		}, "p-three", ""},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		got, err := secret.Read()
		if got != step.want || (err == nil) != (step.wrong == "") || err != nil && !strings.Contains(err.Error(), step.wrong) {
			t.Errorf("got %q, %v, want %q and «%s»", got, err, step.want, step.wrong)
		}
	}
	if secret.Reveal() != "p-one" || !secret.FromFile() || config.NewSecret("x").FromFile() {
		t.Error("what was loaded has changed")
	}
	if got, err := config.NewSecret("x").Read(); got != "x" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
