package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// argument is a word of the command line.
type argument struct {
	// name is that of the path's parameter or the body's field.
	name string
	// kind of thing that it names; empty for a text that stands as it is.
	kind string
	// body says that it is a field of the body.
	body bool
	// several says that it may be given more than once.
	several bool
}

type arguments []argument

// parseArguments reads verb.args.
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

// label is what stands for it in a usage line.
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

// check holds the number of words.
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

// resolved is what the arguments stand for.
type resolved struct {
	path map[string]string
	body map[string]any
	// app says that the guest is an app, and so another operation is meant.
	app   bool
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
