package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machineFacts say where the figures come from.
func machineFacts(kafka string) []string {
	return []string{
		time.Now().UTC().Format(time.DateOnly),
		fmt.Sprintf("%d × %s", runtime.NumCPU(), cpuModel()),
		runtime.GOOS + "/" + runtime.GOARCH,
		runtime.Version(),
		"Apache Kafka " + kafka,
		fmt.Sprintf("%d partitions, no compression", partitions),
	}
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
