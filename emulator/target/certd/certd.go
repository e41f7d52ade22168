// Package certd serves gNSI's Certz of an emulated switch: clients replace the certificate, key and
// authorities that its targets serve with.
package certd

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"net"
	"time"

	"github.com/openconfig/gnsi/certz"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/pki"
)

// Keys are the certificate that a target serves with, the key of it, and whom the target trusts.
type Keys interface {
	Identity() pki.Identity
	// Swap serves with another identity from now on, for connections that are made from now on; undo goes back.
	Swap(id pki.Identity) (undo func() error, err error)
}

// Server serves gNSI's Certz: the certificate, key and authorities of the one profile there is can be
// replaced while the target runs. What a client does not finalize is taken back.
type Server struct {
	certz.UnimplementedCertzServer
	keys   Keys
	turn   chan struct{} // one token: one rotation at a time
	within time.Duration // from a rotation's begin to its end
}

// certzProfile is the profile of the server itself.
const certzProfile = "system_default_profile"

// rotateWithin bounds how long a client may leave a rotation open.
const rotateWithin = 2 * time.Minute

// New returns a server that replaces keys.
func New(k Keys) *Server {
	return &Server{keys: k, turn: make(chan struct{}, 1), within: rotateWithin}
}

// GetProfileList implements Certz.
func (s *Server) GetProfileList(context.Context,
	*certz.GetProfileListRequest) (*certz.GetProfileListResponse,
	error) {
	return &certz.GetProfileListResponse{SslProfileIds: []string{certzProfile}}, nil
}

// CanGenerateCSR implements Certz.
func (s *Server) CanGenerateCSR(_ context.Context,
	r *certz.CanGenerateCSRRequest) (*certz.CanGenerateCSRResponse,
	error) {
	return &certz.CanGenerateCSRResponse{CanGenerate: canGenerate(r.GetParams())}, nil
}

func canGenerate(p *certz.CSRParams) bool {
	return p.GetCsrSuite() == certz.CSRSuite_CSRSUITE_X509_KEY_TYPE_ECDSA_PRIME256V1_SIGNATURE_ALGORITHM_SHA_2_256
}

// rotation is one Rotate stream.
type rotation struct {
	s    *Server
	key  *ecdsa.PrivateKey // of a request that was made here; nil: none was
	undo func() error      // nil: nothing has been replaced
}

// Rotate implements Certz.
func (s *Server) Rotate(stream certz.Certz_RotateServer) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	default:
		return status.Error(codes.Unavailable, "another rotation is under way")
	}
	r := &rotation{s: s}
	err := r.run(stream)
	if err == nil || r.undo == nil {
		return err
	}
	if uerr := r.undo(); uerr != nil {
		return status.Errorf(codes.Internal, "%v; and the old keys are not back: %v", err, uerr)
	}
	return err
}

// run answers requests until the rotation is final (nil).
func (r *rotation) run(stream certz.Certz_RotateServer) error {
	requests, ended := make(chan *certz.RotateCertificateRequest), make(chan error, 1)
	go func() {
		for {
			q, err := stream.Recv()
			if err != nil {
				ended <- err
				return
			}
			select {
			case requests <- q:
			case <-stream.Context().Done():
				return
			}
		}
	}()
	limit := time.NewTimer(r.s.within)
	defer limit.Stop()
	for {
		select {
		case <-limit.C:
			return status.Errorf(codes.DeadlineExceeded, "the rotation was not finalized within %v", r.s.within)
		case <-stream.Context().Done(): // the reader may have left with a request
			return status.Error(codes.Aborted, "the rotation was not finalized: its stream is gone")
		case err := <-ended:
			return status.Errorf(codes.Aborted, "the rotation was not finalized: %v", err)
		case q := <-requests:
			answer, final, err := r.one(q)
			if err != nil || final {
				return err
			}
			if err := stream.Send(answer); err != nil {
				return err
			}
		}
	}
}

func (r *rotation) one(q *certz.RotateCertificateRequest) (*certz.RotateCertificateResponse, bool, error) {
	if p := q.GetSslProfileId(); p != "" && p != certzProfile {
		return nil, false, status.Errorf(codes.NotFound, "there is no profile %q: this target has %q",
			p, certzProfile)
	}
	switch x := q.GetRotateRequest().(type) {
	case *certz.RotateCertificateRequest_GenerateCsr:
		csr, err := r.request(x.GenerateCsr.GetParams())
		if err != nil {
			return nil, false, err
		}
		return &certz.RotateCertificateResponse{RotateResponse: &certz.RotateCertificateResponse_GeneratedCsr{
			GeneratedCsr: &certz.GenerateCSRResponse{CertificateSigningRequest: csr}}}, false, nil
	case *certz.RotateCertificateRequest_Certificates:
		if r.undo != nil {
			return nil, false, status.Error(codes.FailedPrecondition, "this rotation has uploaded already")
		}
		if err := r.upload(x.Certificates); err != nil {
			return nil, false, err
		}
		return &certz.RotateCertificateResponse{RotateResponse: &certz.RotateCertificateResponse_Certificates{
			Certificates: &certz.UploadResponse{}}}, false, nil
	case *certz.RotateCertificateRequest_FinalizeRotation:
		if r.undo == nil {
			return nil, false, status.Error(codes.FailedPrecondition, "nothing was uploaded")
		}
		return nil, true, nil
	}
	return nil, false, status.Error(codes.InvalidArgument,
		"a request is none of generate_csr, certificates and finalize")
}

// request makes a key, which stays here, and a request for a certificate of it.
func (r *rotation) request(p *certz.CSRParams) (*certz.CertificateSigningRequest, error) {
	if !canGenerate(p) {
		return nil, status.Error(codes.InvalidArgument, "keys are made of ECDSA prime256v1 with SHA-256 only")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	t := &x509.CertificateRequest{Subject: pkix.Name{CommonName: p.GetCommonName()},
		DNSNames: p.GetSan().GetDns()}
	for _, text := range append(p.GetSan().GetIps(), p.GetIpAddress()) {
		if ip := net.ParseIP(text); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		}
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, t, key)
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "make request: %v", err)
	}
	r.key = key
	return &certz.CertificateSigningRequest{Type: certz.CertificateType_CERTIFICATE_TYPE_X509,
		Encoding:                  certz.CertificateEncoding_CERTIFICATE_ENCODING_PEM,
		CertificateSigningRequest: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})}, nil
}

// upload has the target serve with what a client has sent.
func (r *rotation) upload(u *certz.UploadRequest) error {
	next, err := r.joined(u)
	if err == nil {
		err = goodNow(next)
	}
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	if r.undo, err = r.s.keys.Swap(next); err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return nil
}

// goodNow refuses what nobody could connect to.
func goodNow(id pki.Identity) error {
	if time.Now().After(id.NotAfter()) {
		return errors.New("the certificate has ended")
	}
	return nil
}

// joined returns the identity of now with the parts of an upload.
func (r *rotation) joined(u *certz.UploadRequest) (id pki.Identity, err error) {
	var certs, cas, key []byte
	generated := false
	for _, e := range u.GetEntities() {
		switch x := e.GetEntity().(type) {
		case *certz.Entity_CertificateChain:
			if certs, err = chainOf(x.CertificateChain); err != nil {
				return id, err
			}
			first := x.CertificateChain.GetCertificate()
			key, generated = first.GetRawPrivateKey(), first.GetKeySource() == certz.Certificate_KEY_SOURCE_GENERATED
		case *certz.Entity_TrustBundle:
			if cas, err = chainOf(x.TrustBundle); err != nil {
				return id, err
			}
		default:
			return id, errors.New("certificate_chain and trust_bundle are taken, and no other entities")
		}
	}
	now := r.s.keys.Identity()
	switch {
	case len(certs) == 0 && len(cas) == 0:
		return id, errors.New("the upload holds nothing")
	case generated && r.key == nil:
		return id, errors.New("this rotation has generated no key")
	case generated:
		return now.With(certs, r.key, cas)
	case len(key) > 0:
		signer, err := pki.ParseKey(key)
		if err != nil {
			return id, err
		}
		return now.With(certs, signer, cas)
	}
	return now.With(certs, nil, cas)
}

// maxChain bounds how many certificates a chain or bundle can have.
const maxChain = 32

// chainOf returns the certificates of a chain in PEM.
func chainOf(c *certz.CertificateChain) ([]byte, error) {
	var out bytes.Buffer
	for n := 0; c != nil; c = c.GetParent() {
		x := c.GetCertificate()
		if n++; n > maxChain || x.GetEncoding() != certz.CertificateEncoding_CERTIFICATE_ENCODING_PEM ||
			len(x.GetRawCertificate()) == 0 {
			return nil, errors.New("want X.509 certificates in PEM, 32 at most")
		}
		out.Write(x.GetRawCertificate())
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}
