package ui_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hostler/hostler/core/problem"
)

// Every identifier of an error has a sentence and a remedy on the page.
func TestEveryProblemHasItsWords(t *testing.T) {
	t.Parallel()
	words := words(t)
	for _, code := range codes() {
		for _, kind := range []string{"problem.", "remedy."} {
			if strings.TrimSpace(words[kind+code]) == "" {
				t.Errorf("web/src/words/en.json has no %s%s", kind, code)
			}
		}
	}
	for key := range words {
		code, ok := strings.CutPrefix(key, "problem.")
		if ok && code != "offline" && code != "unreadable" && code != "declined" && !slices.Contains(codes(), code) {
			t.Errorf("web/src/words/en.json has %s: the API has no such error", key)
		}
	}
}

// words are the page's texts.
func words(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("web/src/words/en.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func codes() (all []string) {
	for _, code := range problem.Codes() {
		all = append(all, string(code))
	}
	return all
}
