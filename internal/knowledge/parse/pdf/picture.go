package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"

	"golang.org/x/image/ccitt"
)

// Bounds of the pictures that are given.
const (
	minPictureWidth  = 200 // pixels: smaller ones are logos and lines
	minPictureHeight = 40
	maxPictureSide   = 20_000
	maxPicturePixels = 40_000_000
	maxPagePictures  = 16
)

// EachPicture calls do for each picture on the pages, 0-based, that wanted chooses: a PNG or JPEG file,
// in the order of the page's names for them. A picture of another encoding, or a damaged one, is passed
// over. An error of do ends it.
func EachPicture(ctx context.Context, content []byte, limits Limits, wanted func(page int) bool, do func(page int, picture []byte) error) error {
	f := newFile(content, limits)
	f.scanObjects()
	root := f.dictOf(f.trailer["Root"])
	if len(root) == 0 {
		root = f.findCatalog()
	}
	pages, err := f.listPages(ctx, root)
	if err != nil {
		return err
	}
	for number, page := range pages {
		if !wanted(number) {
			continue
		}
		for _, o := range f.listPictures(page) {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("read pictures: %w", err)
			}
			picture, err := f.encodePicture(o)
			if err != nil {
				continue
			}
			if err := do(number, picture); err != nil {
				return err
			}
		}
	}
	return nil
}

// listPictures gives the pictures of a page that are large enough to hold text.
func (f *file) listPictures(p page) []object {
	named := f.dictOf(p.resources["XObject"])
	names := make([]string, 0, len(named))
	for name := range named {
		names = append(names, name)
	}
	slices.Sort(names)
	var found []object
	for _, name := range names {
		o := f.resolveReference(named[name])
		width, height := f.numberOf(o, "Width", "W"), f.numberOf(o, "Height", "H")
		if f.nameOf(f.resolveReference(o.dict["Subtype"])) == "Image" && width >= minPictureWidth && height >= minPictureHeight &&
			width <= maxPictureSide && height <= maxPictureSide && width*height <= maxPicturePixels && len(found) < maxPagePictures {
			found = append(found, o)
		}
	}
	return found
}

// valueOf gives an entry of an object's dictionary by its name, or its short one.
func (f *file) valueOf(o object, name, short string) object {
	if value := f.resolveReference(o.dict[name]); value.kind != null {
		return value
	}
	return f.resolveReference(o.dict[short])
}

func (f *file) numberOf(o object, name, short string) int { return f.valueOf(o, name, short).toInt() }

// errEncoding says that pictures of an encoding are not read.
var errEncoding = errors.New("the encoding of the picture is not read")

// encodePicture gives a picture as a PNG or JPEG file.
func (f *file) encodePicture(o object) ([]byte, error) {
	filters := f.listOf(f.valueOf(o, "Filter", "F"))
	parameters := f.listOf(f.valueOf(o, "DecodeParms", "DP"))
	last := ""
	if len(filters) > 0 {
		last = f.nameOf(f.resolveReference(filters[len(filters)-1]))
	}
	isPacked := slices.Contains([]string{"DCTDecode", "DCT", "CCITTFaxDecode", "CCF"}, last)
	if isPacked {
		filters = filters[:len(filters)-1]
	}
	unpacked := object{stream: o.stream, dict: map[string]object{
		"Filter": {kind: array, items: filters}, "DecodeParms": {kind: array, items: parameters[:min(len(parameters), len(filters))]},
	}}
	data, err := f.decodeStream(unpacked)
	if err != nil && len(data) == 0 {
		return nil, err
	}
	width, height := f.numberOf(o, "Width", "W"), f.numberOf(o, "Height", "H")
	switch last {
	case "DCTDecode", "DCT":
		return data, nil
	case "CCITTFaxDecode", "CCF":
		var parameter map[string]object
		if len(parameters) > len(filters) {
			parameter = f.dictOf(parameters[len(filters)])
		}
		return f.encodeFax(data, parameter, width, height)
	}
	return f.encodePixels(o, data, width, height)
}

// encodeFax gives a picture that is packed as a fax.
func (f *file) encodeFax(data []byte, parameter map[string]object, width, height int) ([]byte, error) {
	format := ccitt.Group3
	if f.resolveReference(parameter["K"]).toInt() < 0 {
		format = ccitt.Group4
	} else if f.resolveReference(parameter["K"]).toInt() > 0 {
		return nil, errEncoding // rows of both kinds
	}
	if columns := f.resolveReference(parameter["Columns"]).toInt(); columns > 0 && columns != width {
		return nil, errEncoding
	}
	grey := image.NewGray(image.Rect(0, 0, width, height))
	options := &ccitt.Options{Align: f.isTrue(parameter["EncodedByteAlign"]), Invert: f.isTrue(parameter["BlackIs1"])}
	if err := ccitt.DecodeIntoGray(grey, bytes.NewReader(data), ccitt.MSB, format, options); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read a fax: %w", err)
	}
	if f.isTrue(parameter["BlackIs1"]) { // then its colour space has 1 for white
		for i, value := range grey.Pix {
			grey.Pix[i] = 255 - value
		}
	}
	return encodePNG(grey)
}

func (f *file) isTrue(o object) bool { return f.resolveReference(o).text == "true" }

// encodePixels gives a picture whose pixels stand in rows, in shades of grey.
func (f *file) encodePixels(o object, data []byte, width, height int) ([]byte, error) {
	bits, components := f.numberOf(o, "BitsPerComponent", "BPC"), 1
	if f.valueOf(o, "ImageMask", "IM").text == "true" {
		bits = 1
	} else if components = f.countComponents(f.valueOf(o, "ColorSpace", "CS")); components == 0 {
		return nil, errEncoding
	}
	if bits != 8 && (bits != 1 || components != 1) {
		return nil, errEncoding
	}
	row := (width*components*bits + 7) / 8
	if len(data) < row {
		return nil, errEncoding
	}
	decode := f.listOf(f.valueOf(o, "Decode", "D"))
	inverted := len(decode) > 0 && f.resolveReference(decode[0]).number > 0.5
	grey := image.NewGray(image.Rect(0, 0, width, height))
	for y := range min(height, len(data)/row) {
		line := data[y*row : (y+1)*row]
		for x := range width {
			value := shadeAt(line, x, bits, components)
			if inverted {
				value = 255 - value
			}
			grey.Pix[y*grey.Stride+x] = value
		}
	}
	return encodePNG(grey)
}

// shadeAt gives the shade of a pixel of a row.
func shadeAt(row []byte, x, bits, components int) byte {
	switch {
	case bits == 1:
		return 255 * (row[x/8] >> (7 - x%8) & 1)
	case components == 3:
		return color.GrayModel.Convert(color.RGBA{R: row[3*x], G: row[3*x+1], B: row[3*x+2], A: 255}).(color.Gray).Y //nolint:forcetypeassert // it is GrayModel's
	case components == 4:
		return color.GrayModel.Convert(color.CMYK{C: row[4*x], M: row[4*x+1], Y: row[4*x+2], K: row[4*x+3]}).(color.Gray).Y //nolint:forcetypeassert // as above
	}
	return row[x]
}

// countComponents gives the components of a pixel of a colour space; 0 for one that is not read.
func (f *file) countComponents(space object) int {
	name := f.nameOf(space)
	if space.kind == array && len(space.items) > 0 {
		name = f.nameOf(f.resolveReference(space.items[0]))
	}
	switch name {
	case "DeviceGray", "CalGray", "G":
		return 1
	case "DeviceRGB", "CalRGB", "RGB":
		return 3
	case "DeviceCMYK", "CMYK":
		return 4
	case "ICCBased":
		if len(space.items) > 1 {
			if count := f.resolveReference(f.dictOf(space.items[1])["N"]).toInt(); count == 1 || count == 3 || count == 4 {
				return count
			}
		}
	}
	return 0
}

func encodePNG(picture image.Image) ([]byte, error) {
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, picture); err != nil {
		return nil, fmt.Errorf("write a picture: %w", err)
	}
	return out.Bytes(), nil
}
