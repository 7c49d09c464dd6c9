package terminal

// KeyFilter are between the keyboard and a console: they take out what is meant for the program itself.
type KeyFilter interface {
	// Filter gives what goes to the console, and whether to leave after it. It is called with all that is typed, in order.
	Filter(p []byte) (out []byte, leave bool)
}

// plain passes everything on.
type plain struct{}

func (plain) Filter(p []byte) ([]byte, bool) { return p, false }

// bracket is Ctrl-].
const bracket = 0x1d

// Bracket leaves by Ctrl-] and a point. Ctrl-] twice is one, and before anything else it is itself.
type Bracket struct{ escaped bool }

// Filter is that of KeyFilter.
func (k *Bracket) Filter(p []byte) (out []byte, leave bool) {
	for _, b := range p {
		switch {
		case k.escaped && b == '.':
			return out, true
		case k.escaped && b == bracket:
			k.escaped = false
			out = append(out, bracket)
		case k.escaped:
			k.escaped = false
			out = append(out, bracket, b)
		case b == bracket:
			k.escaped = true
		default:
			out = append(out, b)
		}
	}
	return out, false
}

// Tilde leaves by a tilde and a point at the beginning of a line, as ssh does. Two tildes there are one, and before anything else it is
// itself.
type Tilde struct {
	// inside says that a line has begun, escaped that it began with a tilde.
	inside, escaped bool
}

// Filter is that of KeyFilter.
func (k *Tilde) Filter(p []byte) (out []byte, leave bool) {
	for _, b := range p {
		switch {
		case k.escaped && b == '.':
			return out, true
		case k.escaped:
			k.escaped = false
			out = append(out, '~')
			if b != '~' {
				out = append(out, b)
			}
			k.inside = b != '\r' && b != '\n'
		case !k.inside && b == '~':
			k.escaped = true
		default:
			out = append(out, b)
			k.inside = b != '\r' && b != '\n'
		}
	}
	return out, false
}
