package pdf

import (
	"bytes"
	"errors"
	"image"
	"strings"
	"testing"
)

// pictured is a file of one page with a picture.
func pictured(dict, data string) []byte {
	return assembled(object1(1, "<</Type/Catalog/Pages 2 0 R>>"), object1(2, "<</Type/Pages/Kids[3 0 R]/Count 1>>"),
		object1(3, "<</Type/Page/Resources<</XObject<</P 4 0 R/F 5 0 R>>>>>>"), stream(4, "/Subtype/Image/Width 400/Height 50"+dict, data), stream(5, "/Subtype/Form", ""))
}

func picturesOf(t testing.TB, content []byte) []image.Image {
	t.Helper()
	var found []image.Image
	err := EachPicture(t.Context(), content, Limits{Bytes: 1 << 20, Ratio: 2000, Pages: 10}, func(int) bool { return true }, func(_ int, picture []byte) error {
		decoded, _, err := image.Decode(bytes.NewReader(picture))
		if err != nil {
			return err
		}
		found = append(found, decoded)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPicturesOfAllEncodings(t *testing.T) {
	grey := strings.Repeat("\x00", 400*25) + strings.Repeat("\xff", 400*25)
	bits := strings.Repeat("\x00", 50*25) + strings.Repeat("\xff", 50*25)
	white := strings.Repeat("\xff", 7) // a fax of Group 4: one bit for each row that is as the one above
	for name, test := range map[string]struct {
		dict, data  string
		top, bottom uint32 // shades, 0 or 0xffff
	}{
		"grey":          {"/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/FlateDecode", deflated(grey), 0, 0xffff},
		"colour":        {"/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode", deflated(strings.Repeat(grey[:400*25], 3) + strings.Repeat(grey[400*25:], 3)), 0, 0xffff},
		"ICC":           {"/BitsPerComponent 8/ColorSpace[/ICCBased 6 0 R]/Filter/FlateDecode", deflated(grey), 0, 0},
		"one bit":       {"/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/FlateDecode", deflated(bits), 0, 0xffff},
		"inverted mask": {"/ImageMask true/Decode[1 0]/Filter/FlateDecode", deflated(bits), 0xffff, 0},
		"fax":           {"/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 400>>", white, 0xffff, 0xffff},
		"fax, inverted": {"/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 400/BlackIs1 true>>", white, 0xffff, 0xffff},
	} {
		found := picturesOf(t, pictured(test.dict, test.data))
		if name == "ICC" { // its profile is not there
			if len(found) != 0 {
				t.Error("a colour space that is not known is read")
			}
			continue
		}
		if len(found) != 1 || found[0].Bounds().Dx() != 400 || found[0].Bounds().Dy() != 50 {
			t.Errorf("%s: %d pictures", name, len(found))
			continue
		}
		top, _, _, _ := found[0].At(10, 5).RGBA()
		bottom, _, _, _ := found[0].At(390, 45).RGBA()
		if top != test.top || bottom != test.bottom {
			t.Errorf("%s: shades %x and %x, want %x and %x", name, top, bottom, test.top, test.bottom)
		}
	}
	for name, dict := range map[string]string{
		"JPEG 2000": "/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/JPXDecode", "palette": "/ColorSpace[/Indexed/DeviceRGB 1 (abcdef)]/BitsPerComponent 8",
		"lying size": "/Width 20000/Height 20000/ColorSpace/DeviceGray/BitsPerComponent 8", "no rows": "/ColorSpace/DeviceGray/BitsPerComponent 8",
	} {
		if found := picturesOf(t, pictured(dict, "x")); len(found) != 0 {
			t.Errorf("%s: %d pictures", name, len(found))
		}
	}
	stop := errors.New("stop")
	err := EachPicture(t.Context(), pictured("/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/FlateDecode", deflated(grey)), Limits{Bytes: 1 << 20, Ratio: 2000, Pages: 10},
		func(int) bool { return true }, func(int, []byte) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

// FuzzPicture reads pictures of strangers: whatever comes is a picture within the bounds, or none.
func FuzzPicture(f *testing.F) {
	// Short seeds: what they lead to is made smaller byte by byte.
	f.Add("/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/RunLengthDecode", strings.Repeat("\x81x", 160))
	f.Add("/BitsPerComponent 1/ImageMask true/Decode[1 0]/Filter/RunLengthDecode", strings.Repeat("\x81x", 20))
	f.Add("/ColorSpace/DeviceGray/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 400>>", "\xff\xff\xff\xff\xff\xff\xff")
	f.Add("/ColorSpace/DeviceGray/Filter[/ASCIIHexDecode/CCITTFaxDecode]/DecodeParms[null<</K 0>>]", "ffff00")
	f.Add("/Filter/DCTDecode", "\xff\xd8\xff")
	f.Fuzz(func(t *testing.T, dict, data string) {
		limits := Limits{Bytes: 1 << 20, Ratio: 200, Pages: 10}
		err := EachPicture(t.Context(), pictured(dict, data), limits, func(int) bool { return true }, func(_ int, picture []byte) error {
			if shape, format, err := image.DecodeConfig(bytes.NewReader(picture)); err == nil && format == "png" && shape.Width*shape.Height > maxPicturePixels {
				t.Errorf("%d by %d pixels", shape.Width, shape.Height)
			}
			return nil
		})
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}
