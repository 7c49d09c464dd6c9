package consoletest

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Frame is a picture of an RFB server: four bytes a pixel, as the server has them.
type Frame struct {
	Name          string
	Width, Height int
	Pixels        []byte
}

// maxFrameName and maxFrameSide bound what a server may claim.
const (
	maxFrameName = 1 << 10
	maxFrameSide = 1 << 13
)

// ReadFrame speaks RFB 3.8 as a client that knows a password, and gives the
// first picture. The server must send it as one rectangle in the encoding Raw
// with 32 bits a pixel.
func ReadFrame(conn io.ReadWriter, password string) (Frame, error) {
	read := func(n int) ([]byte, error) {
		p := make([]byte, n)
		_, err := io.ReadFull(conn, p)
		return p, err
	}
	version, err := read(12)
	if err != nil || string(version) != "RFB 003.008\n" {
		return Frame{}, fmt.Errorf("the server speaks %q: %w", version, err)
	}
	if _, err := conn.Write(version); err != nil {
		return Frame{}, err
	}
	count, err := read(1)
	if err != nil {
		return Frame{}, err
	}
	types, err := read(int(count[0]))
	if err != nil || len(types) != 1 {
		return Frame{}, fmt.Errorf("the server offers the security types %v: %w", types, err)
	}
	if _, err := conn.Write(types); err != nil {
		return Frame{}, err
	}
	if types[0] == 2 {
		challenge, err := read(16)
		if err != nil {
			return Frame{}, err
		}
		if _, err := conn.Write(rfbAnswer(password, challenge)); err != nil {
			return Frame{}, err
		}
	}
	result, err := read(4)
	if err != nil {
		return Frame{}, err
	}
	if binary.BigEndian.Uint32(result) != 0 {
		return Frame{}, ErrRFBPassword
	}
	if _, err := conn.Write([]byte{1}); err != nil {
		return Frame{}, err
	}
	begin, err := read(24)
	if err != nil {
		return Frame{}, err
	}
	f := Frame{Width: int(binary.BigEndian.Uint16(begin)), Height: int(binary.BigEndian.Uint16(begin[2:]))}
	n := binary.BigEndian.Uint32(begin[20:])
	if n > maxFrameName || f.Width > maxFrameSide || f.Height > maxFrameSide || begin[4] != 32 {
		return Frame{}, fmt.Errorf("the server has %d by %d pixels of %d bits and a name of %d bytes", f.Width, f.Height, begin[4], n)
	}
	name, err := read(int(n))
	if err != nil {
		return Frame{}, err
	}
	f.Name = string(name)
	ask := []byte{rfbSetEncodings, 0, 0, 1, 0, 0, 0, 0, rfbUpdateRequest, 0, 0, 0, 0, 0, begin[0], begin[1], begin[2], begin[3]}
	if _, err := conn.Write(ask); err != nil {
		return Frame{}, err
	}
	head, err := read(16)
	if err != nil {
		return Frame{}, err
	}
	if head[0] != 0 || binary.BigEndian.Uint16(head[2:]) != 1 || binary.BigEndian.Uint32(head[12:]) != 0 {
		return Frame{}, fmt.Errorf("the server answers with % x", head)
	}
	f.Pixels, err = read(4 * f.Width * f.Height)
	return f, err
}
