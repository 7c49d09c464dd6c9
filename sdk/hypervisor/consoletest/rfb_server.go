package consoletest

import (
	"bufio"
	"crypto/des" //nolint:staticcheck // RFC 6143 section 7.2.2 wants it
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// RFBServer is a server of the RFB protocol 3.8 (RFC 6143) for one client, with
// VNC authentication and the encoding Raw. Its screen is a pattern that changes
// with each key.
type RFBServer struct {
	// Password is what the client must know, of which the protocol takes 8
	// bytes; empty asks for none.
	Password      string
	Name          string
	Width, Height int // zero is 64 by 48
}

// pixelFormat is that of section 7.4; what is not told apart is left out.
type pixelFormat struct {
	bytes      int
	bigEndian  bool
	max        [3]uint16
	shift      [3]uint8
	trueColour bool
}

// ErrRFBPassword is what Serve ends with for a wrong password.
var ErrRFBPassword = errors.New("the client's answer to the challenge is wrong")

// Types of messages of a client, section 7.5.
const (
	rfbSetPixelFormat = 0
	rfbSetEncodings   = 2
	rfbUpdateRequest  = 3
	rfbKeyEvent       = 4
	rfbPointerEvent   = 5
	rfbCutText        = 6
)

// maxCutText bounds what a client may send as its clipboard, in bytes.
const maxCutText = 1 << 20

// Serve works until the connection ends, and closes it.
func (s *RFBServer) Serve(conn io.ReadWriteCloser) error {
	defer func() { _ = conn.Close() }()
	if s.Width == 0 {
		s.Width, s.Height = 64, 48
	}
	in := bufio.NewReader(conn)
	if err := s.handshake(in, conn); err != nil {
		return err
	}
	return s.picture(in, conn)
}

func (s *RFBServer) handshake(in io.Reader, out io.Writer) error {
	if _, err := io.WriteString(out, "RFB 003.008\n"); err != nil {
		return err
	}
	version := make([]byte, 12)
	if _, err := io.ReadFull(in, version); err != nil {
		return err
	}
	if string(version) != "RFB 003.008\n" {
		return fmt.Errorf("the client speaks %q", version)
	}
	security := byte(1)
	if s.Password != "" {
		security = 2
	}
	if _, err := out.Write([]byte{1, security}); err != nil {
		return err
	}
	chosen := make([]byte, 1)
	if _, err := io.ReadFull(in, chosen); err != nil {
		return err
	}
	if chosen[0] != security {
		return fmt.Errorf("the client chose security type %d", chosen[0])
	}
	if s.Password != "" {
		challenge, answer := make([]byte, 16), make([]byte, 16)
		_, _ = rand.Read(challenge)
		if _, err := out.Write(challenge); err != nil {
			return err
		}
		if _, err := io.ReadFull(in, answer); err != nil {
			return err
		}
		if subtle.ConstantTimeCompare(answer, rfbAnswer(s.Password, challenge)) != 1 {
			reason := "Authentication failed"
			_, _ = out.Write(append(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1}, uint32(len(reason))), reason...))
			return ErrRFBPassword
		}
	}
	if _, err := out.Write([]byte{0, 0, 0, 0}); err != nil {
		return err
	}
	shared := make([]byte, 1)
	if _, err := io.ReadFull(in, shared); err != nil {
		return err
	}
	begin := binary.BigEndian.AppendUint16(nil, uint16(s.Width))
	begin = binary.BigEndian.AppendUint16(begin, uint16(s.Height))
	begin = append(begin, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0)
	begin = binary.BigEndian.AppendUint32(begin, uint32(len(s.Name)))
	_, err := out.Write(append(begin, s.Name...))
	return err
}

// rfbAnswer encrypts a challenge with a password, whose bits the protocol takes in mirrored order.
func rfbAnswer(password string, challenge []byte) []byte {
	key := make([]byte, 8)
	for i := range min(len(password), 8) {
		key[i] = bits.Reverse8(password[i])
	}
	block, err := des.NewCipher(key)
	if err != nil {
		panic(err) // the key has its length
	}
	answer := make([]byte, 16)
	block.Encrypt(answer[:8], challenge[:8])
	block.Encrypt(answer[8:], challenge[8:16])
	return answer
}

// picture answers a client's messages.
func (s *RFBServer) picture(in *bufio.Reader, out io.Writer) error {
	format := pixelFormat{bytes: 4, max: [3]uint16{255, 255, 255}, shift: [3]uint8{16, 8, 0}}
	shown, seen, asked := uint32(0), false, false
	for {
		kind, err := in.ReadByte()
		if err != nil {
			return err
		}
		changed := false
		switch kind {
		case rfbSetPixelFormat:
			m := make([]byte, 19)
			if _, err = io.ReadFull(in, m); err == nil {
				format, err = parsePixelFormat(m[3:])
			}
		case rfbSetEncodings:
			m := make([]byte, 3)
			if _, err = io.ReadFull(in, m); err == nil {
				_, err = io.CopyN(io.Discard, in, 4*int64(binary.BigEndian.Uint16(m[1:])))
			}
		case rfbUpdateRequest:
			m := make([]byte, 9)
			_, err = io.ReadFull(in, m)
			asked, changed = true, m[0] == 0 || !seen
		case rfbKeyEvent:
			m := make([]byte, 7)
			if _, err = io.ReadFull(in, m); m[0] == 1 {
				shown += 1 + binary.BigEndian.Uint32(m[3:])
				seen = false
			}
			changed = !seen
		case rfbPointerEvent:
			_, err = io.CopyN(io.Discard, in, 5)
		case rfbCutText:
			m := make([]byte, 7)
			if _, err = io.ReadFull(in, m); err == nil {
				n := binary.BigEndian.Uint32(m[3:])
				if n > maxCutText {
					return fmt.Errorf("the client's clipboard has %d bytes", n)
				}
				_, err = io.CopyN(io.Discard, in, int64(n))
			}
		default:
			return fmt.Errorf("unknown message type %d", kind)
		}
		if err != nil {
			return err
		}
		if asked && changed {
			if err := s.update(out, format, shown); err != nil {
				return err
			}
			asked, seen = false, true
		}
	}
}

func parsePixelFormat(m []byte) (pixelFormat, error) {
	f := pixelFormat{bytes: int(m[0]) / 8, bigEndian: m[2] != 0, trueColour: m[3] != 0}
	for i := range 3 {
		f.max[i], f.shift[i] = binary.BigEndian.Uint16(m[4+2*i:]), m[10+i]
		if f.shift[i] > 31 {
			return f, fmt.Errorf("a color is shifted by %d bits", f.shift[i])
		}
	}
	if m[0] != 8 && m[0] != 16 && m[0] != 32 || !f.trueColour {
		return f, fmt.Errorf("pixels of %d bits in this form are not served", m[0])
	}
	return f, nil
}

// update sends the whole screen as one rectangle.
func (s *RFBServer) update(out io.Writer, f pixelFormat, shown uint32) error {
	m := []byte{0, 0, 0, 1, 0, 0, 0, 0}
	m = binary.BigEndian.AppendUint16(m, uint16(s.Width))
	m = binary.BigEndian.AppendUint16(m, uint16(s.Height))
	m = append(m, 0, 0, 0, 0)
	for y := range s.Height {
		for x := range s.Width {
			colour := [3]uint32{uint32(255 * x / s.Width), uint32(255 * y / s.Height), shown % 256}
			value := uint32(0)
			for i, c := range colour {
				value |= c * uint32(f.max[i]) / 255 << f.shift[i]
			}
			pixel := binary.LittleEndian.AppendUint32(nil, value)[:f.bytes]
			if f.bigEndian {
				pixel = binary.BigEndian.AppendUint32(nil, value)[4-f.bytes:]
			}
			m = append(m, pixel...)
		}
	}
	_, err := out.Write(m)
	return err
}
