package config

// OCR is what reads the text in pictures.
type OCR struct {
	// Tesseract is the program; "" is the one in PATH.
	Tesseract string `key:"tesseract" form:"path" optional:"true"`
	// Languages are those that are looked for, by tesseract's names.
	Languages []string `key:"languages" form:"name" unique:"true"`
}
