package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/mapping/field"
)

// findFiles returns the YAML files that names stand for: a folder stands for its *.yaml and *.yml files, in the order of
// their names, without its sub-folders. A file that is named twice counts once.
func findFiles(names []string, errs *Errors) []string {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			errs.add(field.Place{File: name}, "", "", "cannot be read: %s", reason(err))
		case info.IsDir():
			files = append(files, filesOf(name, errs)...)
		default:
			files = append(files, name)
		}
	}
	if len(names) == 0 {
		errs.add(field.Place{File: "configuration"}, "", "", "no file is given")
	}
	files = unique(files)
	if len(files) > FilesMax {
		errs.add(field.Place{File: files[FilesMax]}, "", "", "is one file too many; allowed: %d", FilesMax)
		files = files[:FilesMax]
	}
	return files
}

// filesOf returns the YAML files of a folder.
func filesOf(folder string, errs *Errors) []string {
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		errs.add(field.Place{File: folder}, "", "", "cannot be read: %s", reason(err))
		return nil
	}
	var files []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !strings.HasPrefix(e.Name(), ".") && (ext == ".yaml" || ext == ".yml") && !e.IsDir() {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if len(files) == 0 {
		errs.add(field.Place{File: folder}, "", "", "is a folder without *.yaml or *.yml files")
	}
	return files
}

func unique(files []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f string) bool {
		key := filepath.Clean(f)
		was := seen[key]
		seen[key] = true
		return was
	})
}

// reason returns why a file cannot be read, without its name, which stands before.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err.Error()
}

// beside returns name as seen from the folder of file.
func beside(file, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}
