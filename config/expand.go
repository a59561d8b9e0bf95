package config

import (
	"fmt"
	"regexp"
	"strings"
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expander replaces «${NAME}» and «${file:PATH}» in the scalars of all files of one Load.
type expander struct {
	options Options
	// left is how many bytes the replacements may still have.
	left int
	// files are those that were read by «${file:…}».
	files []string
}

// expand replaces the references in text, which stands in file; «$${» stands for «${». found says whether there was one;
// wrong holds what is wrong with each, in order. The replacements are not themselves expanded.
func (x *expander) expand(file, text string) (out string, found bool, wrong []string) {
	if !strings.Contains(text, "${") {
		return text, false, nil
	}
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			b.WriteString(text)
			return b.String(), found, wrong
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		name, rest, closed := strings.Cut(text[i+2:], "}")
		found = true
		if !closed {
			return b.String(), true, append(wrong, "${ has no closing brace; write $${ for the two characters")
		}
		value, failure := x.value(file, name)
		if failure != "" {
			wrong = append(wrong, failure)
		}
		b.WriteString(value)
		text = rest
	}
}

// value returns what one reference stands for, or what is wrong with it.
func (x *expander) value(file, name string) (value, failure string) {
	if path, ok := strings.CutPrefix(name, "file:"); ok {
		value, failure = x.fileValue(file, path)
	} else if !envName.MatchString(name) {
		return "", fmt.Sprintf("${%.60s} is no reference; allowed: ${NAME} with letters, digits and _, ${file:PATH}, and $${ for the two characters", name)
	} else if v, ok := x.options.LookupEnv(name); ok {
		value = v
	} else {
		failure = fmt.Sprintf("environment variable %.60s is not set", name)
	}
	if x.left -= len(value); x.left < 0 {
		return "", fmt.Sprintf("the values of all references have more than %d bytes", ExpandedBytesMax)
	}
	return value, failure
}

// fileValue returns what a file holds, without one newline at its end.
func (x *expander) fileValue(file, path string) (value, failure string) {
	if path == "" {
		return "", "${file:} names no file"
	}
	name := beside(file, path)
	x.files = append(x.files, name)
	data, err := x.options.ReadFile(name)
	if err != nil {
		return "", fmt.Sprintf("file %s cannot be read: %s", name, reason(err))
	}
	value = strings.TrimSuffix(string(data), "\n")
	return strings.TrimSuffix(value, "\r"), ""
}
