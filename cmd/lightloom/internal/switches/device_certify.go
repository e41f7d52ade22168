package switches

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnsi/certz"
	"github.com/spf13/cobra"

	"lightloom/cmd/lightloom/internal/cli"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/pki"
)

func newDeviceCertify() *cobra.Command {
	var r reach
	var file string
	c := &cobra.Command{Use: "certify ADDR --identity FILE",
		Short: "Give a device another certificate, key and authority by gNSI, if it can be reached with them",
		Long: "Uploads what FILE holds (certificate, key and authority in PEM, as lightloom controller keys writes it),\n" +
			"connects to the device anew, and has it keep the new keys only if that succeeds: else the device goes back\n" +
			"to the old ones. " +
			"Our own certificate must be one that the new authority trusts.",
		Example: "  lightloom device certify tor0 --devices lab.yaml --identity keys/tor0.pem"}
	r.flags(c)
	c.Flags().StringVar(&file, "identity", "", "PEM file of the device's new certificate, key and authority")
	c.RunE = func(c *cobra.Command, args []string) error {
		if file == "" {
			return cli.Usage("write --identity keys/tor0.pem", "certify: which certificate?")
		}
		id, err := pki.ReadFile(file)
		if err != nil {
			return err
		}
		cfg, err := r.config(c, args)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.Context(), 3*askTimeout)
		defer cancel()
		if err := certify(ctx, cfg, id); err != nil {
			return unreached(fmt.Errorf("certify device %s: %w", cfg.Addr, err), cfg, time.Now())
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s serves with certificate %s, good until %s\n",
			cfg.Addr, id.Serial(),
			id.NotAfter().Format(time.RFC3339))
		return err
	}
	return c
}

// certify rotates a device's keys, and keeps them if the device answers with them.
func certify(ctx context.Context, cfg gnmi.Config, id pki.Identity) error {
	upload, err := uploadOf(id)
	if err != nil {
		return err
	}
	conn, err := gnmi.Connect(cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx) // ends the rotation, which the device then takes back
	defer cancel()
	s, err := certz.NewCertzClient(conn).Rotate(ctx)
	if err != nil {
		return err
	}
	_ = s.Send(upload) // where it fails, Recv says why
	if _, err := s.Recv(); err != nil {
		return err
	}
	if err := answers(ctx, cfg); err != nil {
		_ = s.CloseSend()
		for gone := error(nil); gone == nil; { // until the device has its old keys again
			_, gone = s.Recv()
		}
		return fmt.Errorf("with the new keys, which it gives up again: %w", err)
	}
	if err := errors.Join(s.Send(finalRotation), s.CloseSend()); err != nil {
		return err
	}
	for err == nil {
		_, err = s.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

var finalRotation = &certz.RotateCertificateRequest{RotateRequest: &certz.RotateCertificateRequest_FinalizeRotation{
	FinalizeRotation: &certz.FinalizeRequest{}}}

// answers asks a device something on a connection of its own.
func answers(ctx context.Context, cfg gnmi.Config) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := gnmi.Connect(cfg)
	if err != nil {
		return err
	}
	_, err = gpb.NewGNMIClient(conn).Capabilities(ctx, &gpb.CapabilityRequest{})
	return errors.Join(err, conn.Close())
}

// uploadOf is the request that gives a device an identity.
func uploadOf(id pki.Identity) (*certz.RotateCertificateRequest, error) {
	all, err := id.MarshalPEM()
	if err != nil {
		return nil, err
	}
	var own, trust *certz.CertificateChain
	var key []byte
	for b, rest := pem.Decode(all); b != nil; b, rest = pem.Decode(rest) {
		switch text := pem.EncodeToMemory(b); {
		case b.Type != "CERTIFICATE":
			key = text
		case key == nil:
			own = appended(own, text)
		default:
			trust = appended(trust, text)
		}
	}
	own.Certificate.PrivateKeyType = &certz.Certificate_RawPrivateKey{RawPrivateKey: key}
	return &certz.RotateCertificateRequest{RotateRequest: &certz.RotateCertificateRequest_Certificates{
		Certificates: &certz.UploadRequest{Entities: []*certz.Entity{
			{Version: id.Serial(), CreatedOn: uint64(time.Now().Unix()),
				Entity: &certz.Entity_CertificateChain{CertificateChain: own}},
			{Version: id.Serial(), CreatedOn: uint64(time.Now().Unix()),
				Entity: &certz.Entity_TrustBundle{TrustBundle: trust}},
		}}}}, nil
}

// appended returns a chain with one more certificate at its end.
func appended(c *certz.CertificateChain, text []byte) *certz.CertificateChain {
	if c != nil {
		c.Parent = appended(c.Parent, text)
		return c
	}
	return &certz.CertificateChain{Certificate: &certz.Certificate{Type: certz.CertificateType_CERTIFICATE_TYPE_X509,
		Encoding:        certz.CertificateEncoding_CERTIFICATE_ENCODING_PEM,
		CertificateType: &certz.Certificate_RawCertificate{RawCertificate: text}}}
}
