package op

import (
	"strings"
	"unicode"
)

// isName reports whether a key of a body holds a name that people read: every one that is called name, or something's.
func isName(key string) bool { return key == "name" || strings.HasSuffix(key, "_name") }

// seen refuses a name of which nobody would see anything. One of spaces only is the schema's or the handler's to refuse:
// they cut spaces off. The cursor stays before the name.
func (v *validator) seen() error {
	before := v.at
	name := v.quoted().text()
	v.at = before
	if strings.TrimSpace(name) == "" || strings.ContainsFunc(name, visible) {
		return nil
	}
	return v.schemaFault("must contain a visible character", "string_invisible")
}

// visible reports whether a reader sees the character: it is a letter, mark, number, punctuation or symbol, and none that
// is drawn as nothing. Unicode calls most of those default ignorable (UAX 44); the blank braille pattern is a symbol of its own.
func visible(r rune) bool {
	const blankBraille = '\u2800'
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != blankBraille &&
		!unicode.In(r, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
