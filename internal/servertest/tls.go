package servertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// EncryptedRedis starts a Redis that takes TLS alone, as OwnRedis does. Its certificate,
// for 127.0.0.1, is signed by an authority that nobody trusts, whose own certificate is
// in the file that is given.
func EncryptedRedis(t testing.TB, settings ...string) (server *Server, authority string) {
	t.Helper()
	port, dir := FreePort(t), openFolder(t)
	data := filepath.Join(dir, "data")            // all that a container sees
	if err := os.Mkdir(data, 0o755); err != nil { //nolint:gosec // as openFolder
		t.Fatal(err)
	}
	authority = filepath.Join(data, "ca.pem")
	cert, key := filepath.Join(data, "cert.pem"), filepath.Join(data, "key.pem")
	pool := writeCertificates(t, authority, cert, key)
	settings = append([]string{
		"--port", "0", "--tls-port", fmt.Sprint(port), "--tls-auth-clients", "no",
		"--tls-ca-cert-file", authority, "--tls-cert-file", cert, "--tls-key-file", key,
	}, settings...)
	return startServer(t, &Server{
		URL:     fmt.Sprintf("rediss://127.0.0.1:%d/0?ca=%s", port, authority),
		program: "redis", dir: dir, port: port, settings: settings,
		dial: redis.Options{TLSConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}), authority
}

// writeCertificates writes the certificate of a new authority, and one of a server with its key.
func writeCertificates(t testing.TB, authority, cert, key string) *x509.CertPool {
	t.Helper()
	now := time.Now()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a server of a test"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, leafKey := newKey(t), newKey(t)
	writePEM(t, authority, "CERTIFICATE", signCertificate(t, root, root, &rootKey.PublicKey, rootKey))
	writePEM(t, cert, "CERTIFICATE", signCertificate(t, leaf, root, &leafKey.PublicKey, rootKey))
	encoded, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, key, "PRIVATE KEY", encoded)
	text, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func signCertificate(t testing.TB, certificate, by *x509.Certificate, key *ecdsa.PublicKey, with *ecdsa.PrivateKey) []byte {
	t.Helper()
	signed, err := x509.CreateCertificate(rand.Reader, certificate, by, key, with)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// writePEM writes what the server reads, as another user than root.
func writePEM(t testing.TB, file, kind string, content []byte) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
	if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // a key that protects nothing
		t.Fatal(err)
	}
}
