package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// argument describes one word of the command line. The notation is that of
// verb.args: "+targets:guest..." is a body field named targets, with the kind
// guest, that can be repeated.
type argument struct {
	// name is that of the path's parameter or the body's field.
	name string
	// kind is the key in kinds of the objects that the word can name. It is
	// empty for a text that is sent unchanged.
	kind string
	// body reports whether the value is a field of the body instead of a
	// parameter of the path.
	body bool
	// several reports whether the argument can be repeated. Only the last
	// argument of a verb can.
	several bool
}

// arguments are the words that a verb expects, in order. All of them are
// required; options are flags.
type arguments []argument

// parseArguments parses the notation of verb.args. The table of verbs is part
// of the program, so the notation is not checked here.
func parseArguments(spec string) (all arguments) {
	for word := range strings.FieldsSeq(spec) {
		var a argument
		word, a.several = strings.CutSuffix(word, "...")
		word, a.body = strings.CutPrefix(word, "+")
		a.name, a.kind, _ = strings.Cut(word, ":")
		all = append(all, a)
	}
	return all
}

// label returns the placeholder of an argument in the usage line, such as VM,
// ALERT-ID or GUEST... .
func (a argument) label() string {
	word := a.kind
	switch {
	case word == "":
		word = strings.TrimSuffix(a.name, "_id")
	case word == "id":
		word = strings.TrimSuffix(a.name, "_id") + "-id"
	}
	word = strings.ToUpper(strings.ReplaceAll(word, "_", "-"))
	if a.several {
		word += "..."
	}
	return word
}

// check returns a usage error if the number of words is wrong. A repeated
// argument accepts up to 500 words.
func (a arguments) check(c *cobra.Command, words []string) error {
	most := len(a)
	if most > 0 && a[most-1].several {
		most = 500
	}
	if len(words) < len(a) || len(words) > most {
		want := "no arguments"
		if len(a) > 0 {
			want = strings.TrimSpace(a.usage())
		}
		return usage(c, fmt.Errorf("wrong arguments: expected %s", want))
	}
	return nil
}

// resolved contains the values of the arguments after names were looked up.
type resolved struct {
	path map[string]string
	body map[string]any
	// app says that the guest is an app, and so another operation is meant.
	app bool
	// label is the first word as the user typed it, for messages.
	label string
}

// resolveArguments turns the words of the command line into path values and
// body fields. A name is looked up at the service, so that a script may use
// names where the API has ids; an ambiguous name is an error and no request is
// made.
func (s *session) resolveArguments(ctx context.Context, args arguments, words []string) (resolved, error) {
	r := resolved{path: map[string]string{}, body: map[string]any{}}
	for i, word := range words {
		a := args[min(i, len(args)-1)]
		if r.label == "" {
			r.label = word
		}
		if a.kind == "" {
			if word == "" {
				return r, &failure{statusUsage, a.label() + " is empty"}
			}
			r.set(a, word, word)
			continue
		}
		if a.kind == "end" {
			end, err := s.end(ctx, word)
			if err != nil {
				return r, err
			}
			r.set(a, "", end)
			continue
		}
		found, err := s.resolve(ctx, a.kind, word)
		if err != nil {
			return r, err
		}
		switch a.kind {
		case "node", "storage":
			r.path["host_id"] = fmt.Sprint(found.host)
			r.set(a, found.name, found.name)
		case "catalog":
			r.set(a, found.name, found.name)
		case "guest":
			r.app = found.app
			target := map[string]any{"vm": found.id}
			if found.app {
				target = map[string]any{"app": found.id}
			}
			if a.body {
				list, _ := r.body[a.name].([]any)
				r.body[a.name] = append(list, target)
				continue
			}
			r.path["vm_id"], r.path["app_id"] = fmt.Sprint(found.id), fmt.Sprint(found.id)
		default:
			r.set(a, fmt.Sprint(found.id), found.id)
		}
	}
	return r, nil
}

// set writes one value to where the operation expects it: to the path, to a
// field of the body, or to a list in the body.
func (r *resolved) set(a argument, text string, value any) {
	switch {
	case a.body && a.several:
		list, _ := r.body[a.name].([]any)
		r.body[a.name] = append(list, value)
	case a.body:
		r.body[a.name] = value
	default:
		r.path[a.name] = text
	}
}
