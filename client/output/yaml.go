package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML returns a response as YAML. Objects keep the order of their keys, except
// for the rows of a list, whose keys are sorted (see Parse); numbers keep their
// digits. Characters that could control a terminal are written as escapes in
// quoted texts, which a YAML parser reads back as the same characters. It
// returns an error if body is not valid JSON.
func YAML(body []byte) ([]byte, error) {
	value, err := Parse(body)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(node(value)); err != nil {
		return nil, fmt.Errorf("cannot write the response as YAML: %w", err)
	}
	return escape(out.Bytes()), nil
}

// booleans matches the words that are booleans in YAML 1.1, which many parsers
// still read. The encoder quotes only those of YAML 1.2.
var booleans = regexp.MustCompile(`^(?i:y|yes|n|no|on|off)$`)

// node converts a parsed value.
func node(value any) *yaml.Node {
	switch v := value.(type) {
	case map[string]any:
		return node(inOrder(v))
	case *Object:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range v.Keys {
			n.Content = append(n.Content, node(key), node(v.Values[key]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, one := range v {
			n.Content = append(n.Content, node(one))
		}
		return n
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: v.String()}
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: v.String()}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case string:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
		if booleans.MatchString(v) || strings.ContainsFunc(v, func(r rune) bool { return r != '\n' && acts(r) }) {
			n.Style = yaml.DoubleQuotedStyle
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}
