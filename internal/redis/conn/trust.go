package conn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxCertificates bounds a file of certificates, in bytes.
const maxCertificates = 1 << 20

// tlsConfig returns the settings of encrypted connections to servers whose certificates are
// signed by those in a file, or for "" by whom the machine trusts. Each certificate must
// be for the host that is connected to.
func tlsConfig(file string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file == "" {
		return config, nil
	}
	pem, err := readBounded(file, maxCertificates)
	if err != nil {
		return nil, fmt.Errorf("read the certificate that the address names with ca: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the file %s, which the address names with ca, holds no certificate in PEM", file)
	}
	return config, nil
}

func readBounded(file string, most int64) (content []byte, err error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	content, err = io.ReadAll(io.LimitReader(opened, most+1))
	if err := errors.Join(err, opened.Close()); err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", file, most)
	}
	return content, nil
}
