package targetd_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnsi/certz"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/switchd/targetd"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/pki"
)

// keyed is a target whose keys stand in a file, a client of it, and their authority.
type keyed struct {
	auth   *pki.Authority
	keys   *pki.Source
	addr   string
	client pki.Identity
}

func newKeyed(t *testing.T) *keyed {
	t.Helper()
	auth, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	k := &keyed{auth: auth}
	file := filepath.Join(t.TempDir(), "server.pem")
	server, err := auth.Issue(pki.Switch, "sw")
	client, cerr := auth.Issue(pki.Controller, "c")
	if err = errors.Join(err, cerr, server.WriteFile(file)); err != nil {
		t.Fatal(err)
	}
	k.client = client
	if k.keys, err = pki.Open(pki.Paths{Files: pki.Files{Cert: file, Key: file, CA: file}}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- targetd.Run(ctx, l, targetd.Config{Config: device.Config{Name: "sw", Ports: 4},
			Profile: "ocp", Keys: k.keys,
			Identity: server}) // as the command has both
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return k
}

// ask makes a connection of its own, and asks for capabilities.
func (k *keyed) ask(t *testing.T, as pki.Identity) error {
	t.Helper()
	conn, err := gnmi.Connect(gnmi.Config{Name: "sw", Addr: k.addr, TLS: as.Client("sw", pki.Switch)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = gpb.NewGNMIClient(conn).Capabilities(ctx, &gpb.CapabilityRequest{})
	return err
}

func (k *keyed) rotate(t *testing.T) certz.Certz_RotateClient {
	t.Helper()
	conn, err := gnmi.Connect(gnmi.Config{Name: "sw", Addr: k.addr, TLS: k.client.Client("sw", pki.Switch)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s, err := certz.NewCertzClient(conn).Rotate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parts are the certificate, the key and the authorities of an identity, in PEM.
func parts(t *testing.T, id pki.Identity) (cert, key, cas []byte) {
	t.Helper()
	all, err := id.MarshalPEM()
	if err != nil {
		t.Fatal(err)
	}
	for b, rest := pem.Decode(all); b != nil; b, rest = pem.Decode(rest) {
		text := pem.EncodeToMemory(b)
		switch {
		case b.Type != "CERTIFICATE":
			key = text
		case key == nil:
			cert = append(cert, text...)
		default:
			cas = append(cas, text...)
		}
	}
	return cert, key, cas
}

func chain(text []byte) *certz.CertificateChain {
	return &certz.CertificateChain{Certificate: &certz.Certificate{Type: certz.CertificateType_CERTIFICATE_TYPE_X509,
		Encoding:        certz.CertificateEncoding_CERTIFICATE_ENCODING_PEM,
		CertificateType: &certz.Certificate_RawCertificate{RawCertificate: text}}}
}

func upload(cert, key, cas []byte) *certz.RotateCertificateRequest {
	u := &certz.UploadRequest{}
	if cert != nil {
		c := chain(cert)
		if key != nil {
			c.Certificate.PrivateKeyType = &certz.Certificate_RawPrivateKey{RawPrivateKey: key}
		}
		u.Entities = append(u.Entities, &certz.Entity{Entity: &certz.Entity_CertificateChain{CertificateChain: c}})
	}
	if cas != nil {
		u.Entities = append(u.Entities, &certz.Entity{Entity: &certz.Entity_TrustBundle{TrustBundle: chain(cas)}})
	}
	return &certz.RotateCertificateRequest{RotateRequest: &certz.RotateCertificateRequest_Certificates{Certificates: u}}
}

var finalize = &certz.RotateCertificateRequest{RotateRequest: &certz.RotateCertificateRequest_FinalizeRotation{
	FinalizeRotation: &certz.FinalizeRequest{}}}

// TestCertz: a client replaces the target's certificate, key and authority; new connections see them at
// once, a stream that ends before it is final takes them back, and what is final stays in the file.
func TestCertz(t *testing.T) {
	k := newKeyed(t)
	other, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	server, err := other.Issue(pki.Switch, "sw")
	client, cerr := other.Issue(pki.Controller, "c")
	if err = errors.Join(err, cerr); err != nil {
		t.Fatal(err)
	}
	cert, key, cas := parts(t, server)
	for _, final := range []bool{false, true} {
		s := k.rotate(t)
		if err := s.Send(upload(cert, key, cas)); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Recv(); err != nil || r.GetCertificates() == nil {
			t.Fatalf("%v, %v", r, err)
		}
		if err := k.ask(t, client); err != nil {
			t.Errorf("with the new keys: %v", err)
		}
		if err := k.ask(t, k.client); err == nil {
			t.Error("the old authority is still trusted")
		}
		second := k.rotateAs(t, client)
		if _, err := second.Recv(); status.Code(err) != codes.Unavailable {
			t.Errorf("a second rotation: %v", err)
		}
		if final {
			if err := s.Send(finalize); err != nil {
				t.Fatal(err)
			}
		} else if err := s.CloseSend(); err != nil {
			t.Fatal(err)
		}
		_, err := s.Recv()
		if now, old := k.ask(t, client), k.ask(t, k.client); (now == nil) != final || (old == nil) == final {
			t.Errorf("final %v: %v; with the new keys %v, with the old %v", final, err, now, old)
		}
	}
	if k.keys.Identity().Serial() != server.Serial() {
		t.Error("the source has other keys")
	}
}

func (k *keyed) rotateAs(t *testing.T, id pki.Identity) certz.Certz_RotateClient {
	t.Helper()
	old := k.client
	defer func() { k.client = old }()
	k.client = id
	return k.rotate(t)
}

// TestCertzRequest: the target makes a key, which never leaves it, and takes the certificate that is
// signed for it.
func TestCertzRequest(t *testing.T) {
	k := newKeyed(t)
	s := k.rotate(t)
	const suite = certz.CSRSuite_CSRSUITE_X509_KEY_TYPE_ECDSA_PRIME256V1_SIGNATURE_ALGORITHM_SHA_2_256
	if err := s.Send(&certz.RotateCertificateRequest{RotateRequest: &certz.RotateCertificateRequest_GenerateCsr{
		GenerateCsr: &certz.GenerateCSRRequest{Params: &certz.CSRParams{CsrSuite: suite,
			CommonName: "sw"}}}}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	q := upload(k.sign(t, r.GetGeneratedCsr().GetCertificateSigningRequest().GetCertificateSigningRequest()), nil, nil)
	q.GetCertificates().Entities[0].GetCertificateChain().Certificate.PrivateKeyType = &certz.Certificate_KeySource_{
		KeySource: certz.Certificate_KEY_SOURCE_GENERATED}
	if err := errors.Join(s.Send(q), s.Send(finalize)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = s.Recv()
	}
	if err := k.ask(t, k.client); err != nil {
		t.Errorf("with a certificate that was asked for: %v", err)
	}
}

// sign makes the certificate of the target for the key of a request, by the authority's own file.
func (k *keyed) sign(t *testing.T, request []byte) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := k.auth.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		t.Fatal(err)
	}
	own, _, _ := parts(t, k.keys.Identity())
	b, _ := pem.Decode(own)
	c, err := x509.ParseCertificate(b.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	q, _ := pem.Decode(request)
	csr, err := x509.ParseCertificateRequest(q.Bytes)
	if err != nil || csr.CheckSignature() != nil || csr.Subject.CommonName != "sw" {
		t.Fatalf("%v, %v", csr, err)
	}
	c.SerialNumber = big.NewInt(7)
	der, err := x509.CreateCertificate(rand.Reader, c, pair.Leaf, csr.PublicKey, pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestCertzRefuses: keys that do not fit, are another's, or that the target cannot use are refused, and
// it goes on with what it has.
func TestCertzRefuses(t *testing.T) {
	k := newKeyed(t)
	another, err := k.auth.Issue(pki.Switch, "other")
	controller, cerr := k.auth.Issue(pki.Controller, "sw")
	if err = errors.Join(err, cerr); err != nil {
		t.Fatal(err)
	}
	cert, key, _ := parts(t, another)
	own, _, cas := parts(t, k.keys.Identity())
	ccert, ckey, _ := parts(t, controller)
	for name, q := range map[string]*certz.RotateCertificateRequest{
		"another's key":   upload(own, key, nil),
		"another's name":  upload(cert, key, nil),
		"another role":    upload(ccert, ckey, nil),
		"no certificate":  upload([]byte("-----"), nil, nil),
		"nothing":         upload(nil, nil, nil),
		"key for bundle":  upload(nil, nil, key),
		"finalize first":  finalize,
		"unknown profile": {SslProfileId: "other", RotateRequest: upload(nil, nil, cas).RotateRequest},
		"empty":           {},
	} {
		s := k.rotate(t)
		if err := s.Send(q); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); err == nil {
			t.Errorf("%s was taken", name)
		}
		if err := k.ask(t, k.client); err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
	}
}
