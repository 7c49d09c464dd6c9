package catalog

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"testing"
)

// hugePNG is a small file that claims to be a picture of a size.
func hugePNG(width, height uint32) []byte {
	header := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)...)
	header = append(header, 8, 6, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(header))
}

// webP is a file of chunks.
func webP(chunks ...string) []byte {
	var all []byte
	for _, chunk := range chunks {
		all = append(all, chunk[:4]...)
		all = append(binary.LittleEndian.AppendUint32(all, uint32(len(chunk)-4)), chunk[4:]...)
	}
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(all)+4))...), append([]byte("WEBP"), all...)...)
}

func TestSizeOf_ReadsHeadersOnly(t *testing.T) {
	t.Parallel()
	var small, photo bytes.Buffer
	if err := png.Encode(&small, image.NewGray(image.Rect(0, 0, 7, 9))); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 30, 20)), nil); err != nil {
		t.Fatal(err)
	}
	const vp8 = "VP8 \x00\x00\x00\x9d\x01\x2a"
	for name, c := range map[string]struct {
		data []byte
		want image.Point
		many bool
	}{
		"a PNG":              {small.Bytes(), image.Pt(7, 9), false},
		"a JPEG":             {photo.Bytes(), image.Pt(30, 20), false},
		"a bomb":             {hugePNG(60000, 60000), image.Pt(60000, 60000), true},
		"just as large":      {hugePNG(2048, 2048), image.Pt(2048, 2048), false},
		"lossy":              {webP(vp8 + "\x10\x00\x20\x00"), image.Pt(16, 32), false},
		"a lossy bomb":       {webP(vp8 + "\xff\x3f\xff\x3f"), image.Pt(16383, 16383), true},
		"lossless":           {webP("VP8L\x2f\x0f\xc0\x07\x00"), image.Pt(16, 32), false},
		"a lossless bomb":    {webP("VP8L\x2f\xff\xff\xff\x0f"), image.Pt(16384, 16384), true},
		"a canvas":           {webP("VP8X\x00\x00\x00\x00\xff\x7f\x00\xff\x7f\x00"), image.Pt(32768, 32768), true},
		"a bomb in a canvas": {webP("VP8X\x00\x00\x00\x00\x0f\x00\x00\x0f\x00\x00", vp8+"\xff\x3f\xff\x3f"), image.Pt(16383, 16383), true},
		"cut off":            {hugePNG(10, 10)[:20], image.Point{}, false},
		"no chunks":          {webP(), image.Point{}, false},
		"an endless chunk":   {append(webP(), "JUNK\xff\xff\xff\xff"...), image.Point{}, false},
		"a script":           {[]byte("#!/bin/sh"), image.Point{}, false},
		"nothing":            {nil, image.Point{}, false},
	} {
		size, ok := sizeOf(c.data)
		if ok != (c.want != image.Point{}) || ok && size != c.want || ok && tooManyPixels(size) != c.many {
			t.Errorf("%s: %v, %t, want %v", name, size, ok, c.want)
		}
	}
}
