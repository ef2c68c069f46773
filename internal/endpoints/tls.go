package endpoints

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
)

// TLSConfig returns the settings of TLS for the server at addr; nil: no TLS. Links connect
// with it, so the name in the certificate is that of the server.
func (s *Servers) TLSConfig(addr string) (*tls.Config, error) {
	if !s.TLS {
		return nil, nil
	}
	c := &tls.Config{ServerName: s.TLSName}
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(addr)
	}
	if s.TLSCA != "" {
		text, err := os.ReadFile(s.TLSCA)
		if err != nil {
			return nil, fmt.Errorf("tls-ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls-ca: %s has no certificate in PEM", s.TLSCA)
		}
	}
	if s.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(s.TLSCert, s.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("tls-cert, tls-key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
