package parse

import "fmt"

// UnsupportedError says that a document is of a type that can't be read.
type UnsupportedError struct {
	Name      string
	MediaType string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is %s, which is not read: export it as one of %s", e.Name, described(e.MediaType), Readable)
}

// BrokenError says that a document is not what its format asks for.
type BrokenError struct {
	Name   string
	Format string // "PDF", "DOCX"
	Err    error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s is a broken %s file (%v): save it anew with the program it comes from", e.Name, e.Format, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// TooLargeError says that a document goes over one of the limits.
type TooLargeError struct {
	Name  string
	What  string // what is counted: "bytes", "pages", "levels of nesting"
	Size  int64  // 0 where it was not counted to the end
	Limit int64
}

func (e *TooLargeError) Error() string {
	if e.Size == 0 {
		return fmt.Sprintf("%s has more than %d %s: split it, or raise the limit", e.Name, e.Limit, e.What)
	}
	return fmt.Sprintf("%s has %d %s, over the limit of %d: split it, or raise the limit", e.Name, e.Size, e.What, e.Limit)
}

// EncryptedError says that a document needs a password.
type EncryptedError struct {
	Name   string
	Format string
}

func (e *EncryptedError) Error() string {
	return fmt.Sprintf("%s is a %s file protected by a password: save it without one", e.Name, e.Format)
}

// NoTextError says that a document has pages, but no text on them.
type NoTextError struct {
	Name  string
	Pages int
	Err   error // why its pictures were not read; nil: there is no text in them either
}

func (e *NoTextError) Unwrap() error { return e.Err }

func (e *NoTextError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s has no text on its %d pages, it is likely scanned (%v): install tesseract, or run OCR on it first (for example with ocrmypdf)", e.Name, e.Pages, e.Err)
	}
	return fmt.Sprintf("%s has no text on its %d pages, it is likely scanned: run OCR on it first (for example with ocrmypdf)", e.Name, e.Pages)
}

// UnreadPictureError says that the text in a picture was not read.
type UnreadPictureError struct {
	Name string
	Err  error
}

func (e *UnreadPictureError) Error() string {
	return fmt.Sprintf("%s is a picture, and its text was not read: %v", e.Name, e.Err)
}

func (e *UnreadPictureError) Unwrap() error { return e.Err }
