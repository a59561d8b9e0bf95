package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machineFacts say where the figures come from. load is how busy the machine was before.
func machineFacts(kafka, load string) []string {
	facts := []string{
		time.Now().UTC().Format(time.DateOnly),
		fmt.Sprintf("%d × %s", runtime.NumCPU(), cpuModel()),
		runtime.GOOS + "/" + runtime.GOARCH,
		runtime.Version(),
		"Apache Kafka " + kafka,
		fmt.Sprintf("%d partitions, no compression", partitions),
	}
	if load != "" {
		facts = append(facts, "load average before the run "+load)
	}
	return facts
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
