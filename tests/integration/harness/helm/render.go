// SPDX-License-Identifier: Apache-2.0

// What `helm template` makes of a chart, as far as ours needs it: Go's own templates, and the few functions that Helm adds.
// usage: go run render.go CHART < {"Values": …, "Release": …, "Chart": …}     The documents, each after "# Source: NAME" and "---".
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

func indent(n int, text string) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}

// As in Helm: what is empty is false, "", 0, or holds nothing.
func isEmpty(value any) bool {
	truth, _ := template.IsTrue(value)
	return !truth
}

// One member of a map or list: what is nested begins on a line of its own.
func member(head string, value any) (string, error) {
	text, err := toYaml(value)
	if isNested(value) {
		return head + "\n" + indent(2, text), err
	}
	return head + " " + text, err
}

func isNested(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return !isEmpty(value)
	}
	return false
}

// Blocks, since templates put them beside members of their own; scalars and what is empty as JSON, which is YAML, too.
func toYaml(value any) (string, error) {
	var lines []string
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, err := member(fmt.Sprintf("%q:", name), v[name])
			if err != nil {
				return "", err
			}
			lines = append(lines, text)
		}
	case []any:
		for _, item := range v {
			text, err := toYaml(item)
			if err != nil {
				return "", err
			}
			lines = append(lines, "- "+strings.TrimPrefix(indent(2, text), "  "))
		}
	}
	if len(lines) > 0 {
		return strings.Join(lines, "\n"), nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

func functions(t *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := t.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"default": func(otherwise, value any) any {
			if isEmpty(value) {
				return otherwise
			}
			return value
		},
		"quote":   func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"nindent": func(n int, text string) string { return "\n" + indent(n, text) },
		"toYaml":  toYaml,
		"trunc": func(n int, text string) string {
			return text[:min(n, len(text))]
		},
		"contains":   func(part, text string) bool { return strings.Contains(text, part) },
		"fail":       func(text string) (string, error) { return "", errors.New(text) },
		"trimSuffix": func(suffix, text string) string { return strings.TrimSuffix(text, suffix) },
	}
}

func render(chart string) error {
	var data map[string]any
	if err := json.NewDecoder(os.Stdin).Decode(&data); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return err
	}
	t := template.New("chart")
	if _, err := t.Funcs(functions(t)).Option("missingkey=zero").ParseFiles(files...); err != nil {
		return err
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		fmt.Printf("---\n# Source: %s\n", name)
		if err := t.ExecuteTemplate(os.Stdout, name, data); err != nil {
			return err
		}
		fmt.Println()
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: render CHART < DATA")
		os.Exit(2)
	}
	if err := render(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
