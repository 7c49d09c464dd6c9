package plugin

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// shortLine is the length up to which a line of a secret of several is none by itself, such as the lines that begin and end PEM.
const shortLine = 16

// withLines adds to a secret its lines and their words, where it has several: an error may tell one of them.
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

// secretsOf collects the fields of text and of bytes of a request that its protobuf file marks with debug_redact, those of messages in
// lists too. It is called for failed calls only: a driver that puts its credential into an error or a panic must not put it into a log.
func secretsOf(req any) []string {
	m, ok := req.(proto.Message)
	if !ok {
		return nil
	}
	var secrets []string
	collect(m.ProtoReflect(), &secrets)
	return secrets
}

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

// shortBytes is how long a value of bytes is that is cut out: such as variables have, "1" or "yes", would tear every text apart.
const shortBytes = 8

// marked reports whether a field has debug_redact.
func marked(field protoreflect.FieldDescriptor) bool {
	options, ok := field.Options().(*descriptorpb.FieldOptions)
	return ok && options.GetDebugRedact()
}
