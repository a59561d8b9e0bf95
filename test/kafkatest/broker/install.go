package broker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The versions of Apache Kafka that the tests know: what each is for.
const (
	Newest        = "4.4.0" // the default
	Oldest        = "4.2.0" // the lowest that Queue mode must support; groups by KIP-848, with commits that may be refused
	NoShareGroups = "3.9.1" // a cluster without share groups, and with classic groups alone
)

// Versions lists them, the newest first.
func Versions() []string { return []string{Newest, Oldest, NoShareGroups} }

// dependencyPlugin is the Maven plugin that copies the class path, pinned like everything else.
const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"

// pom names what a broker needs to run. slf4j-simple writes its log to standard error.
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>sluice.test</groupId><artifactId>kafka</artifactId><version>%[1]s</version><packaging>pom</packaging>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>%[1]s</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>%[1]s</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies>
</project>
`

// Install returns the folder of jars that make up Kafka's class path in that version, fetching them through Maven
// (54 MB) when the cache does not have them. The cache is $SLUICE_CACHE, or sluice in the user's cache folder; several
// processes may install at once. It says on progress what it is doing when that takes a while.
func Install(ctx context.Context, version string, progress io.Writer) (string, error) {
	home, err := cacheDir()
	if err != nil {
		return "", err
	}
	versions := filepath.Join(home, "kafka")
	libs := filepath.Join(versions, version, "libs")
	if installed(libs) {
		return libs, nil
	}
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(versions, version+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if installed(libs) { // another process was faster
		return libs, nil
	}
	if err := fetch(ctx, version, filepath.Join(versions, version), progress); err != nil {
		return "", fmt.Errorf("install kafka %s: %w", version, err)
	}
	return libs, nil
}

func cacheDir() (string, error) {
	if dir := os.Getenv("SLUICE_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "sluice"), err
}

func installed(libs string) bool {
	_, err := os.Stat(libs)
	return err == nil
}

// lock takes an advisory lock on a file, waiting for other processes.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", file, err)
	}
	return func() { _ = f.Close() }, nil
}

// fetch fills a folder beside the target and renames it, so that a half-filled one is never taken for an installation.
func fetch(ctx context.Context, version, target string, progress io.Writer) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return errors.New("mvn (Apache Maven) is not installed; on Debian: apt-get install maven")
	}
	dir, err := os.MkdirTemp(filepath.Dir(target), version+".part-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), fmt.Appendf(nil, pom, version), 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, mvn, "-B", "--strict-checksums", dependencyPlugin+":copy-dependencies",
		"-DoutputDirectory=libs", "-DincludeScope=runtime",
		"-DexcludeArtifactIds=slf4j-reload4j") // 3.9 brings it; it would win over slf4j-simple and log nothing
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	said := report(out, "kafka "+version, progress)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("mvn: %w\n%s", err, strings.Join(said, "\n"))
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	return os.Rename(dir, target)
}

// downloaded matches Maven's line about a file that has arrived, with its size and unit.
var downloaded = regexp.MustCompile(`^(?:\[INFO\] )?Downloaded from .*\(([0-9.]+) (B|kB|MB)`)

// report turns Maven's output into a progress line every few seconds, and returns the last lines that were not about
// downloads, for an error text.
func report(out io.Reader, name string, progress io.Writer) (last []string) {
	files, bytes, shown := 0, 0.0, time.Now()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := downloaded.FindStringSubmatch(line); m != nil {
			size, _ := strconv.ParseFloat(m[1], 64)
			files++
			bytes += size * map[string]float64{"B": 1, "kB": 1e3, "MB": 1e6}[m[2]]
		} else if !strings.Contains(line, "Downloading from ") {
			last = append(last, line)
			last = last[max(0, len(last)-30):]
		}
		if files > 0 && time.Since(shown) >= 5*time.Second {
			shown = time.Now()
			_, _ = fmt.Fprintf(progress, "%s: fetched %d files, %.0f MB\n", name, files, bytes/1e6)
		}
	}
	// What the scanner could not take (an overlong line) must not block Maven.
	_, _ = io.Copy(io.Discard, out)
	_, _ = fmt.Fprintf(progress, "%s: installed (%d files, %.0f MB fetched)\n", name, files, bytes/1e6)
	return last
}

// java finds the Java runtime.
func java() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		if p := filepath.Join(home, "bin", "java"); exec.Command(p, "-version").Run() == nil {
			return p, nil
		}
	}
	p, err := exec.LookPath("java")
	if err != nil {
		return "", errors.New("java is not installed; Kafka needs version 17 or later; on Debian: apt-get install default-jre-headless")
	}
	return p, nil
}
