package scripts

import (
	"bytes"
	"regexp"
)

var (
	// promptCall is a bare read with a prompt: it asks whoever sits there, and has no answer of its own.
	promptCall = regexp.MustCompile(`(?:^|[;&|({]|\bthen|\bdo|\belse|\bwhile|\buntil|\bif)[ \t]*` +
		`(?:IFS=\S*[ \t]+)?read[ \t]+(?:-[a-zA-Z]+[ \t]+)*-[a-zA-Z]*p\b`)
	// consentCall asks whether to go on at all, and an empty answer is no.
	consentCall = regexp.MustCompile(`read[ \t].*-[a-zA-Z]*p[ \t]+"[^"]*[Dd]o you want to continue`)
)

// prompts counts the questions of a script, and reports whether one of them
// asks for consent to run a third-party installer. The count is by form: a
// question in a loop or in an unused branch counts once.
func prompts(script []byte) (count int, consent bool) {
	for l := range bytes.Lines(script) {
		l = bytes.TrimSpace(l)
		if len(l) == 0 || l[0] == '#' {
			continue
		}
		count += len(promptCall.FindAll(l, -1))
		consent = consent || consentCall.Match(l)
	}
	return count, consent
}
