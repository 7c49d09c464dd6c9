package catalog

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
)

// maxPixels limits the pixels of an icon: a browser needs four bytes of memory
// for each, however small the file is.
const maxPixels = 4 << 20

// sizeOf reads the width and the height of a picture from its header, without
// decoding the picture; false where the header has none.
func sizeOf(data []byte) (size image.Point, ok bool) {
	var config image.Config
	var err error
	switch pictureOf(data) {
	case "png":
		config, err = png.DecodeConfig(bytes.NewReader(data))
	case "jpg":
		config, err = jpeg.DecodeConfig(bytes.NewReader(data))
	case "webp":
		return sizeOfWebP(data)
	default:
		return size, false
	}
	return image.Pt(config.Width, config.Height), err == nil && config.Width > 0 && config.Height > 0
}

// sizeOfWebP returns the largest size in the headers of a WebP picture: of its
// canvas and of its images (RFC 9649, sections 2.5 to 2.7; RFC 6386, section
// 9.1, for VP8).
func sizeOfWebP(data []byte) (size image.Point, ok bool) {
	for rest := data[min(len(data), 12):]; len(rest) >= 8; {
		kind, length := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:]))
		content := rest[8:]
		if content = content[:min(uint64(len(content)), length)]; len(content) >= 10 {
			switch kind {
			case "VP8X":
				size, ok = larger(size, 1+uint24(content[4:]), 1+uint24(content[7:])), true
			case "VP8 ":
				if [3]byte(content[3:6]) == [3]byte{0x9d, 0x01, 0x2a} {
					width, height := binary.LittleEndian.Uint16(content[6:]), binary.LittleEndian.Uint16(content[8:])
					size, ok = larger(size, int(width&0x3fff), int(height&0x3fff)), true
				}
			case "ANMF":
				if len(content) >= 12 {
					size = larger(size, 1+uint24(content[6:]), 1+uint24(content[9:]))
				}
			}
		}
		if kind == "VP8L" && len(content) >= 5 && content[0] == 0x2f {
			bits := binary.LittleEndian.Uint32(content[1:])
			size, ok = larger(size, 1+int(bits&0x3fff), 1+int(bits>>14&0x3fff)), true
		}
		rest = rest[min(uint64(len(rest)), 8+length+length%2):]
	}
	return size, ok && size.X > 0 && size.Y > 0
}

// uint24 reads a little-endian number of three bytes.
func uint24(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }

// larger returns the larger of two sizes in each direction.
func larger(size image.Point, width, height int) image.Point {
	return image.Pt(max(size.X, width), max(size.Y, height))
}

// tooManyPixels reports whether a picture of a size has more pixels than an icon may have.
func tooManyPixels(size image.Point) bool { return int64(size.X)*int64(size.Y) > maxPixels }
