package history_test

import (
	"bytes"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lightloom/controller"
	"lightloom/controller/history"
	"lightloom/controller/state"
	"lightloom/southbound"
)

func left(id controller.JobID, end time.Duration) state.Left {
	return state.Left{
		Job: &state.Job{Job: controller.Job{ID: id, Name: "some",
			FirstCoflow: southbound.CoflowID(id)}, Ended: end,
			Leaves: end + 10},
		Tasks:   []state.Task{{Job: id, Ended: end}},
		Coflows: []*state.Coflow{{ID: southbound.CoflowID(id), Job: id, Bytes: 7, Ended: end}},
	}
}

func open(t *testing.T, path string, keep time.Duration) *history.Store {
	t.Helper()
	s, err := history.Open(path, keep, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ids(t *testing.T, s *history.Store, from controller.JobID) (out []controller.JobID) {
	t.Helper()
	if err := s.Jobs(from, func(l state.Left) bool {
		out = append(out, l.Job.ID)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestStore puts jobs, more than once as a replica does that begins from an older snapshot, and finds
// those again that are to be kept, also in the next process and on another replica.
func TestStore(t *testing.T) {
	for _, tc := range []struct {
		name string
		keep time.Duration
		want []controller.JobID
	}{
		{"for good", 0, []controller.JobID{1, 2, 3, 700, 1 << 30}},
		{"for some time", 60, []controller.JobID{3, 700, 1 << 30}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history")
			s := open(t, path, tc.keep)
			s.Put([]state.Left{left(2, 5), left(1, 10)})
			s.Put([]state.Left{left(700, 50), left(3, 51)})
			s.Put([]state.Left{left(2, 5), left(1, 10)})
			if l, known, err := s.Job(700); err != nil || !known ||
				cmp.Diff(l, left(700, 50), cmpopts.IgnoreUnexported(state.Job{}, state.Coflow{})) != "" {
				t.Errorf("job 700: %+v, %v, %v", l, known, err)
			}
			s.Put([]state.Left{left(1<<30, 99)})
			if got := ids(t, s, 0); !cmp.Equal(got, tc.want) {
				t.Errorf("%v are known, want %v", got, tc.want)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, path, tc.keep)
			other := open(t, path+"2", tc.keep)
			var b bytes.Buffer
			if err := s.Save(&b); err != nil {
				t.Fatal(err)
			}
			if err := other.Load(&b); err != nil {
				t.Fatal(err)
			}
			if got := ids(t, other, 0); !cmp.Equal(got, tc.want) {
				t.Errorf("another replica knows %v, want %v", got, tc.want)
			}
			if got, want := ids(t, other, 4), tc.want[len(tc.want)-2:]; !cmp.Equal(got, want) {
				t.Errorf("from 4 on there are %v, want %v", got, want)
			}
			if _, known, err := other.Job(4); known || err != nil {
				t.Errorf("job 4 is known: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Add([]byte("\x00\x00\x00\x10{\"job\":{\"id\":1}}"))
	f.Add([]byte("\xff\xff\xff\xff"))
	path := filepath.Join(f.TempDir(), "history")
	s, err := history.Open(path, 1, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		if s.Load(bytes.NewReader(b)) == nil {
			if err := s.Save(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
}
