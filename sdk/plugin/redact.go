package plugin

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// shortLine is the length up to which a line or word of a multi-line secret is not
// removed on its own. Shorter ones, such as a word of a PEM header, appear in
// ordinary texts.
const shortLine = 16

// withLines returns a secret and, if it has several lines, its lines and their
// words: an error may quote only one of them.
func withLines(secret string) []string {
	all := []string{secret}
	add := func(part string) {
		if len(part) > shortLine && part != secret && !strings.HasPrefix(part, "-----") {
			all = append(all, part)
		}
	}
	for line := range strings.Lines(secret) {
		line = strings.TrimSpace(line)
		add(line)
		if words := strings.Fields(line); len(words) > 1 {
			for _, word := range words {
				add(word)
			}
		}
	}
	return all
}

// secretsOf collects the secrets of a request: the string and bytes fields that the
// protobuf file marks with debug_redact, including those of nested messages and
// lists. It is called for failed calls only. A driver that puts its credential into
// an error or a panic must not get it into a log.
func secretsOf(req any) []string {
	m, ok := req.(proto.Message)
	if !ok {
		return nil
	}
	var secrets []string
	collect(m.ProtoReflect(), &secrets)
	return secrets
}

// collect appends the secrets of m to secrets. Maps are skipped: no request has a
// secret in one.
func collect(m protoreflect.Message, secrets *[]string) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
		case field.IsList() && field.Kind() == protoreflect.MessageKind:
			for i := range value.List().Len() {
				collect(value.List().Get(i).Message(), secrets)
			}
		case field.IsList():
		case field.Kind() == protoreflect.MessageKind:
			collect(value.Message(), secrets)
		case !marked(field):
		case field.Kind() == protoreflect.StringKind && value.String() != "":
			*secrets = append(*secrets, withLines(value.String())...)
		case field.Kind() == protoreflect.BytesKind && len(value.Bytes()) >= shortBytes:
			*secrets = append(*secrets, withLines(string(value.Bytes()))...)
		}
		return true
	})
}

// shortBytes is the shortest bytes value that is removed from texts. Shorter ones
// are values of variables such as "1" or "yes", whose removal would make every text
// unreadable.
const shortBytes = 8

// marked reports whether a field has the option debug_redact.
func marked(field protoreflect.FieldDescriptor) bool {
	options, ok := field.Options().(*descriptorpb.FieldOptions)
	return ok && options.GetDebugRedact()
}
