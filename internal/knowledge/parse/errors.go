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
}

func (e *NoTextError) Error() string {
	return fmt.Sprintf("%s has no text on its %d pages, it is likely scanned: run OCR on it first (for example with ocrmypdf)", e.Name, e.Pages)
}
