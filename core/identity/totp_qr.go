package identity

import (
	"errors"
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quietZone is the free border that readers need, in modules (ISO/IEC 18004:
// four).
const quietZone = 4

// qrSVG draws a text as a QR code: one path on a white ground, one unit for
// each module.
func qrSVG(text string) (string, error) {
	code, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		return "", errors.New("drawing a QR code: the text is too long") // the library's errors may repeat the text
	}
	side := code.Bounds().Dx()
	dark := func(x, y int) bool { return x < side && code.At(x, y) == color.Black }
	var path strings.Builder
	for y := range side {
		for x := 0; x < side; x++ {
			run := 0
			for dark(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	whole := side + 2*quietZone
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges">`+
		`<rect width="100%%" height="100%%" fill="#fff"/><path d="%s"/></svg>`, whole, whole, path.String()), nil
}
