package main

import (
	"os"
	"regexp"
	"testing"
)

// The manual in the package comment names every command, and no other.
func TestManualNamesTheCommands(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\tspecsweep (\w+)`).FindAllSubmatch(text, -1) {
		named[string(m[1])] = true
	}
	root := newRootCmd(&env{})
	root.InitDefaultCompletionCmd("run")
	for _, c := range root.Commands() {
		if !named[c.Name()] {
			t.Errorf("the manual in doc.go does not name %s", c.Name())
		}
		delete(named, c.Name())
	}
	for name := range named {
		t.Errorf("the manual in doc.go names %s, which does not exist", name)
	}
}
