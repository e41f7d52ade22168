package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lightloom/controller/api"
	"lightloom/controller/history"
	"lightloom/controller/replica"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
)

// Backup is the state of a cluster after one entry of its log and the jobs that had left it, in a file:
// a magic, the length of the JSON of the fields below, that JSON, the state, those jobs as
// history.Write writes them, and the SHA-256 of all before.
type Backup struct {
	Cluster string      `json:"cluster"`
	Fabric  string      `json:"fabric"`
	Epoch   time.Time   `json:"epoch"`
	Earlier uint64      `json:"earlier"` // clusters that had programmed the same devices before it
	Level   state.Level `json:"level"`
	Index   uint64      `json:"index"`
	Digest  string      `json:"digest"` // of the state, as replicas report it
	Size    int64       `json:"size"`   // of the state, in bytes
	Ended   int         `json:"ended"`  // jobs that had left the state
	state   []byte
	history []byte
}

const (
	backupMagic = "LLBACK\x00\x01"
	maxBackup   = 1 << 30
	maxAbout    = 64 << 10 // bytes of the fields
)

// BackUp writes what the cluster of a replica's file holds to a new file.
func BackUp(ctx context.Context, config, path string) (*Backup, error) {
	fail := func(err error) (*Backup, error) { return nil, fmt.Errorf("back up: %w", err) }
	client, c, err := DialCluster(config)
	if err != nil {
		return fail(err)
	}
	defer client.Close()
	b, err := backUp(ctx, client, c)
	if err != nil {
		return fail(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return fail(hint.New(fmt.Sprintf("%q is there already", path), "name a new file"))
	}
	text, err := b.encode()
	if err != nil {
		return fail(err)
	}
	if err := durable.Replace(path, text, true); err != nil {
		return fail(err)
	}
	return b, nil
}

// backUp reads what a cluster holds, all that was acknowledged before the call.
func backUp(ctx context.Context, client *api.Client, c *ReplicaConfig) (*Backup, error) {
	client.Attempt = time.Minute // the state may be large
	snap, err := client.LiveStateAt(ctx, api.Read{Linearizable: true})
	if err != nil {
		return nil, err
	}
	b := &Backup{Cluster: c.Cluster, Fabric: fabricName(c.Spec), Epoch: c.Epoch, Earlier: c.Earlier,
		Index:  snap.Index,
		Digest: hex.EncodeToString(snap.Digest[:]), Size: int64(len(snap.JSON)), state: snap.JSON}
	s, err := b.check(c.Spec)
	if err != nil {
		return nil, err
	}
	b.Level = s.Level()
	if at, ok := s.Epoch(); ok {
		b.Epoch = at.UTC()
	}
	return b, b.keepEnded(ctx, client, snap)
}

// keepEnded adds the jobs that had left a state. No digest covers them: replicas agree on them because
// all left at the same entries.
func (b *Backup) keepEnded(ctx context.Context, client *api.Client, snap api.Snapshot) error {
	whole, err := client.StateAt(ctx, api.Read{MinIndex: snap.Index})
	if err != nil {
		return err
	}
	var live, all state.Data
	if err := errors.Join(json.Unmarshal(snap.JSON, &live), json.Unmarshal(whole.JSON, &all)); err != nil {
		return err
	}
	return b.setEnded(all.LeftSince(&live))
}

func (b *Backup) setEnded(left []state.Left) error {
	var out bytes.Buffer
	err := history.Write(&out, left)
	b.Ended, b.history = len(left), out.Bytes()
	return err
}

func (b *Backup) encode() ([]byte, error) {
	about, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	out := append([]byte(backupMagic), binary.BigEndian.AppendUint32(nil, uint32(len(about)))...)
	out = append(append(append(out, about...), b.state...), b.history...)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

// ReadBackup reads and checks a backup's file.
func ReadBackup(path string) (*Backup, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read backup: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBackup+maxAbout))
	if err != nil {
		return nil, fmt.Errorf("read backup: %w", err)
	}
	b, err := parseBackup(text)
	if err != nil {
		return nil, fmt.Errorf("read backup %q: %w", path, err)
	}
	return b, nil
}

func parseBackup(text []byte) (*Backup, error) {
	const head = len(backupMagic) + 4
	if len(text) < head+sha256.Size || string(text[:len(backupMagic)]) != backupMagic {
		return nil, errors.New("it is no backup of this version")
	}
	body, sum := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errors.New("it is damaged: its checksum is wrong")
	}
	n := binary.BigEndian.Uint32(body[len(backupMagic):])
	if n > maxAbout || int(n) > len(body)-head {
		return nil, errors.New("it is shorter than it says")
	}
	b := &Backup{}
	if err := json.Unmarshal(body[head:head+int(n)], b); err != nil {
		return nil, err
	}
	rest := body[head+int(n):]
	if b.Size < 0 || b.Size > int64(len(rest)) {
		return nil, errors.New("it is shorter than it says")
	}
	b.state, b.history = rest[:b.Size], rest[b.Size:]
	if digest, err := hex.DecodeString(b.Digest); err != nil || len(digest) != sha256.Size {
		return nil, fmt.Errorf("%q is no digest", b.Digest)
	}
	if (b.Ended == 0) != (len(b.history) == 0) || b.Cluster == "" || b.Fabric == "" ||
		b.Epoch.IsZero() || b.Index == 0 {
		return nil, errors.New("it is incomplete")
	}
	return b, nil
}

// check restores the state on its fabric, and compares its digest.
func (b *Backup) check(spec topo.Spec) (*state.State, error) {
	if name := fabricName(spec); name != b.Fabric {
		return nil, hint.New(fmt.Sprintf("it is of the fabric %s, not %s", b.Fabric, name), "name that fabric")
	}
	f, err := topo.New(spec)
	if err != nil {
		return nil, err
	}
	s := state.New(f)
	if err := s.Restore(b.state); err != nil {
		return nil, err
	}
	if got := s.Digest(); hex.EncodeToString(got[:]) != b.Digest {
		return nil, fmt.Errorf("its state has digest %x, it says %s", got[:6], b.Digest)
	}
	return s, nil
}

// Restored is the id of the cluster that a backup begins: another than before, so that what is left of
// the old one does not take part.
func (b *Backup) Restored() string {
	sum := sha256.Sum256([]byte(b.Cluster + "/" + b.Digest + "/" + fmt.Sprint(b.Index)))
	return hex.EncodeToString(sum[:8])
}

// begin makes a directory one of a replica of the cluster that a backup begins.
func (b *Backup) begin(dir, id string, peers []replica.Peer) error {
	n := Node{Cluster: b.Restored(), Replica: id, Replicas: len(peers), Fabric: b.Fabric,
		Epoch: b.Epoch, Level: b.Level,
		Begun: true}
	if err := n.Found(dir); err != nil {
		return err
	}
	digest, err := hex.DecodeString(b.Digest)
	if err != nil {
		return err
	}
	if err := replica.Seed(dir, peers, b.Index, [32]byte(digest), b.state); err != nil {
		return err
	}
	if b.Ended == 0 {
		return nil
	}
	return history.Fill(filepath.Join(dir, historyFile), bytes.NewReader(b.history))
}

// RestoreService makes the state directory that a replica's file names one that begins with a backup.
// The file must name the restored cluster, and count the old one among those that have programmed the
// devices.
func RestoreService(path, config string) (*Backup, error) {
	fail := func(err error) (*Backup, error) { return nil, fmt.Errorf("restore: %w", err) }
	b, err := ReadBackup(path)
	if err != nil {
		return fail(err)
	}
	c, err := ReadReplicaFile(config)
	if err != nil {
		return fail(err)
	}
	if _, err := b.check(c.Spec); err != nil {
		return fail(err)
	}
	if c.Cluster != b.Restored() || c.Earlier <= b.Earlier {
		return fail(hint.New(fmt.Sprintf("%s is of cluster %s with earlier: %d; the restored one is another", config,
			c.Cluster, c.Earlier), fmt.Sprintf("end all replicas of %s, write into the file of each: cluster: %q "+
			"and earlier: %d, then type this again", b.Cluster, b.Restored(), b.Earlier+1)))
	}
	if err := b.begin(c.Dir, c.ID, c.Peers); err != nil {
		return fail(err)
	}
	return b, nil
}

// DialCluster returns a client of the cluster of a replica's file, with that replica's certificate.
func DialCluster(config string) (*api.Client, *ReplicaConfig, error) {
	c, err := ReadReplicaFile(config)
	if err != nil {
		return nil, nil, err
	}
	client, err := c.dial()
	return client, c, err
}
