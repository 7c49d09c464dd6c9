package op

import (
	"strings"
	"unicode"
)

// isName reports whether a key of a body contains a name for people: "name", or
// one that ends in "_name".
func isName(key string) bool { return key == "name" || strings.HasSuffix(key, "_name") }

// seen refuses a name without any visible character. Names of only spaces are
// left to the schema or the handler, which trim spaces. The cursor stays before
// the name.
func (v *validator) seen() error {
	before := v.at
	name := v.quoted().text()
	v.at = before
	if strings.TrimSpace(name) == "" || strings.ContainsFunc(name, visible) {
		return nil
	}
	return v.schemaFault("must contain a visible character", "string_invisible")
}

// visible reports whether a character is visible: a letter, mark, number,
// punctuation or symbol that is not drawn as nothing. Unicode calls most
// invisible ones default ignorable (UAX 44); the blank braille pattern is a
// symbol, so it is listed separately.
func visible(r rune) bool {
	const blankBraille = '\u2800'
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != blankBraille &&
		!unicode.In(r, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
