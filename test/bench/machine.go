package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine says where figures come from.
func machine(kafka string) string {
	return strings.Join([]string{
		fmt.Sprintf("%d × %s", runtime.NumCPU(), cpuModel()), runtime.GOOS + "/" + runtime.GOARCH, runtime.Version(),
		"Apache Kafka " + kafka,
	}, "; ")
}

// commit is what is measured, with -dirty behind it if the tree was changed; empty outside of a repository.
func commit(ctx context.Context, root string) string {
	git := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--exclude", "*", "--abbrev=12")
	out, err := git.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// loadAverage is how many processes wanted to run, on average over the last minute; empty where the system does not tell.
func loadAverage() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	minute, _, _ := strings.Cut(string(load), " ")
	return minute
}

// cpuModel is the processor's name where the system tells it.
func cpuModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "CPU"
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return "CPU"
}
