package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/test/function"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sluice": func() { os.Exit(run(os.Args[1:])) },
	})
}

// TestScripts runs the command line as testdata/*.txt say. Beside testscript's commands they have:
//
//	kafka TOPIC:PARTITIONS...  starts an embedded Kafka, its address in $KAFKA
//	function [RULE]            starts a function that answers by the rule (test/function), its URL in $FUNCTION
//	produce TOPIC N            writes N records
//	received N                 waits until the function was handed N different records
//	listen                     finds a free address, in $LISTEN
//	ready                      waits until the service at $LISTEN is ready
//	await REGEXP COMMAND...    repeats the command until its output matches; stdout then checks that output
//	code N COMMAND...          runs a command that must end with exit code N
//	isjson FILE                checks that the file, or stdout, is JSON
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Values["rig"] = &rig{}
			e.Setenv("GORACE", "atexit_sleep_ms=0") // else each command would wait for a second under the race detector
			config, err := os.ReadFile("../../config/testdata/ten-mistakes.bad.yaml")
			if err != nil {
				return err
			}
			return os.WriteFile(e.WorkDir+"/ten-mistakes.yaml", config, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"kafka":    rigged((*rig).kafka),
			"function": rigged((*rig).serve),
			"produce":  rigged((*rig).produce),
			"received": rigged((*rig).received),
			"listen":   rigged((*rig).listen),
			"ready":    rigged((*rig).ready),
			"await":    rigged((*rig).await),
			"code":     rigged((*rig).code),
			"isjson":   rigged((*rig).isJSON),
		},
	})
}

// rig is what stands around the command in one script.
type rig struct {
	seeds    []string
	function *function.Function
}

func rigged(f func(*rig, *testscript.TestScript, []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		ts.Check(f(ts.Value("rig").(*rig), ts, args))
	}
}

func (r *rig) kafka(ts *testscript.TestScript, args []string) error {
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(500 * time.Millisecond)}
	for _, arg := range args {
		topic, partitions, _ := strings.Cut(arg, ":")
		n, err := strconv.Atoi(partitions)
		if err != nil {
			return err
		}
		options = append(options, kfake.SeedTopics(int32(n), topic))
	}
	fake, err := kfake.NewCluster(options...)
	if err != nil {
		return err
	}
	ts.Defer(fake.Close)
	r.seeds = fake.ListenAddrs()
	ts.Setenv("KAFKA", r.seeds[0])
	return nil
}

func (r *rig) serve(ts *testscript.TestScript, args []string) error {
	var config function.Config
	if len(args) > 0 {
		rule, err := function.ParseRule(strings.Join(args, " "))
		if err != nil {
			return err
		}
		config.Script.Rules = append(config.Script.Rules, rule)
	}
	f, err := function.Start(config)
	if err != nil {
		return err
	}
	ts.Defer(func() { _ = f.Close() })
	r.function = f
	ts.Setenv("FUNCTION", f.URL())
	return nil
}

func (r *rig) produce(_ *testscript.TestScript, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(r.seeds...))
	if err != nil {
		return err
	}
	defer client.Close()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: args[0], Key: []byte(strconv.Itoa(i)), Value: []byte(fmt.Sprintf(`{"n":%d}`, i))}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return client.ProduceSync(ctx, records...).FirstErr()
}

func (r *rig) received(_ *testscript.TestScript, args []string) error {
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	return eventually(func() error {
		seen := map[string]bool{}
		for _, a := range r.function.Attempts() {
			for _, run := range a.Runs {
				for _, o := range run.Offsets {
					seen[run.At(o)] = true
				}
			}
		}
		if len(seen) != want {
			return fmt.Errorf("the function was handed %d records, want %d", len(seen), want)
		}
		return nil
	})
}

func (r *rig) listen(ts *testscript.TestScript, _ []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ts.Setenv("LISTEN", l.Addr().String())
	return l.Close()
}

func (r *rig) ready(ts *testscript.TestScript, _ []string) error {
	url := "http://" + ts.Getenv("LISTEN") + "/readyz"
	return eventually(func() error {
		response, err := http.Get(url)
		if err != nil {
			return err
		}
		defer response.Body.Close() //nolint:errcheck // read only
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("readyz: %s", response.Status)
		}
		return nil
	})
}

func (r *rig) await(ts *testscript.TestScript, args []string) error {
	want, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return err
	}
	return eventually(func() error {
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			return err
		}
		if out := ts.ReadFile("stdout"); !want.MatchString(out) {
			return fmt.Errorf("%s does not match\n%s", args[0], out)
		}
		return nil
	})
}

func (r *rig) code(ts *testscript.TestScript, args []string) error {
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var exit *exec.ExitError
	err = ts.Exec(args[1], args[2:]...)
	if !errors.As(err, &exit) || exit.ExitCode() != want {
		return fmt.Errorf("ended with %v, want exit code %d", err, want)
	}
	return nil
}

func (r *rig) isJSON(ts *testscript.TestScript, args []string) error {
	if text := ts.ReadFile(args[0]); !json.Valid([]byte(text)) {
		return fmt.Errorf("not JSON: %s", text)
	}
	return nil
}

// patience is how long a script waits for anything.
const patience = 30 * time.Second

func eventually(check func() error) error {
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := check()
		if err == nil || time.Since(began) > patience {
			return err
		}
	}
}
