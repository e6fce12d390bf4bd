// Package ocr reads the text in pictures by tesseract, a program that has to be installed. Tesseract
// gets no picture as it came: this package decodes it, bounded, and hands plain pixels over, so
// that its own readers of formats see nothing of strangers.
package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // decodes JPEG
	_ "image/png"  // decodes PNG
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/image/draw"

	"github.com/cairn-bot/cairn/internal/shorten"
)

// ErrNotInstalled says that there is no tesseract.
var ErrNotInstalled = errors.New("tesseract is not installed")

// Bounds of what one picture may cost.
const (
	timeLimit   = 30 * time.Second
	maxPixels   = 40_000_000
	maxDecoded  = 80 << 20 // bytes of the pixels as they are decoded
	maxSide     = 20_000
	maxText     = 1 << 20 // bytes that tesseract writes
	memoryLimit = 2 << 30 // bytes of tesseract's address space
	// smallWidth is the width up to which a picture is enlarged: letters on screens are smaller than
	// those that tesseract reads best.
	smallWidth = 2000
	atOnce     = 1 // processes of tesseract
)

// Options is what a Reader works with.
type Options struct {
	Program   string   // tesseract's; "" is the one in PATH
	Languages []string // by tesseract's names: "eng", "deu"; none: English
}

// Reader reads pictures. Its methods may be called concurrently; one picture is read at a time.
type Reader struct {
	program, languages string
	slots              chan struct{}
}

// language is a name of a language of tesseract: "eng", "chi_sim".
var language = regexp.MustCompile(`^[a-z]{3}(_[A-Za-z]{2,10})?$`)

// New makes a reader. Without tesseract the error is ErrNotInstalled; a language that it lacks is an error
// that names it.
func New(ctx context.Context, options Options) (*Reader, error) {
	program := options.Program
	if program == "" {
		found, err := exec.LookPath("tesseract")
		if err != nil {
			return nil, ErrNotInstalled
		}
		program = found
	}
	languages := options.Languages
	if len(languages) == 0 {
		languages = []string{"eng"}
	}
	r := &Reader{program: program, languages: strings.Join(languages, "+"), slots: make(chan struct{}, atOnce)}
	listed, err := r.run(ctx, nil, "--list-langs")
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w at %s", ErrNotInstalled, program)
	}
	if err != nil {
		return nil, err
	}
	installed := strings.Fields(listed)
	for _, name := range languages {
		if !language.MatchString(name) || !slices.Contains(installed, name) {
			return nil, fmt.Errorf("tesseract has no language %q: install it (Debian: apt-get install tesseract-ocr-%s)", shorten.Line(name, 40), strings.ReplaceAll(shorten.Line(name, 40), "_", "-"))
		}
	}
	return r, nil
}

// Languages are those that are read, "eng+deu".
func (r *Reader) Languages() string { return r.languages }

// Recognize gives the text in a PNG or JPEG picture, "" where there is none. It implements
// parse.Recognizer.
func (r *Reader) Recognize(ctx context.Context, picture []byte) (string, error) {
	pixels, err := decodePicture(picture)
	if err != nil {
		return "", err
	}
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-r.slots }()
	text, err := r.run(ctx, pixels, "stdin", "stdout", "-l", r.languages, "--psm", "3")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\f", "\n")), nil
}

// run runs tesseract, with arguments of ours alone, and gives what it writes.
func (r *Reader) run(ctx context.Context, input io.Reader, arguments ...string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	command := exec.CommandContext(limited, r.program, arguments...) //nolint:gosec // an operator chose the program
	command.WaitDelay = time.Second
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "OMP_THREAD_LIMIT=1"}
	if data, ok := os.LookupEnv("TESSDATA_PREFIX"); ok {
		command.Env = append(command.Env, "TESSDATA_PREFIX="+data)
	}
	out, complaint := &boundedBuffer{limit: maxText}, &boundedBuffer{limit: 4096}
	command.Stdin, command.Stdout, command.Stderr = input, out, complaint
	err := command.Start()
	if err == nil {
		limitMemory(command.Process.Pid)
		err = command.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("tesseract took longer than %s", timeLimit)
	case err != nil:
		return "", fmt.Errorf("tesseract: %w: %s", err, shorten.Line(strings.ToValidUTF8(complaint.String(), ""), 200))
	}
	return out.String(), nil
}

// boundedBuffer keeps the beginning of what is written to it.
type boundedBuffer struct {
	bytes.Buffer

	limit int
}

// Write implements io.Writer. It takes all, so that the one who writes goes on.
func (b *boundedBuffer) Write(text []byte) (int, error) {
	b.Buffer.Write(text[:min(len(text), b.limit-b.Len())])
	return len(text), nil
}

// decodePicture gives a picture's pixels in shades of grey, as a PGM file.
func decodePicture(content []byte) (io.Reader, error) {
	shape, format, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the picture is broken or no PNG or JPEG: %w", err)
	}
	pixels := shape.Width * shape.Height
	if shape.Width < 1 || shape.Height < 1 || shape.Width > maxSide || shape.Height > maxSide || pixels > maxPixels || pixels*decodedBytes(shape.ColorModel) > maxDecoded {
		return nil, fmt.Errorf("the picture is too large, with %d by %d pixels: make it smaller", shape.Width, shape.Height)
	}
	decoded, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the %s picture is broken: %w", strings.ToUpper(format), err)
	}
	grey := shadesOf(decoded)
	size := grey.Bounds().Size()
	return io.MultiReader(strings.NewReader(fmt.Sprintf("P5 %d %d 255\n", size.X, size.Y)), bytes.NewReader(grey.Pix)), nil
}

// decodedBytes is about what a pixel takes that is decoded.
func decodedBytes(model color.Model) int {
	if _, ok := model.(color.Palette); ok {
		return 1
	}
	switch model {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.YCbCrModel:
		return 3
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	return 4
}

// shadesOf gives a picture in shades of grey on white, enlarged where it is small.
func shadesOf(picture image.Image) *image.Gray {
	size := picture.Bounds().Size()
	isSmall := size.X < smallWidth && size.Y < smallWidth
	if grey, ok := picture.(*image.Gray); ok && !isSmall && grey.Stride == size.X {
		return grey
	}
	if isSmall {
		size = size.Mul(2)
	}
	grey := image.NewGray(image.Rectangle{Max: size})
	draw.Draw(grey, grey.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	if isSmall {
		draw.CatmullRom.Scale(grey, grey.Bounds(), picture, picture.Bounds(), draw.Over, nil)
	} else {
		draw.Draw(grey, grey.Bounds(), picture, picture.Bounds().Min, draw.Over)
	}
	return grey
}
