package main

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

var plain = job{id: 7, project: 2001, verdict: "image", shape: "plain"}

func answerOf(t *testing.T, s *schema, arm, reason string) []byte {
	t.Helper()
	field := s.answer.Fields().ByName(protoreflect.Name(arm))
	answer := dynamicpb.NewMessage(s.answer)
	inner := answer.Mutable(field).Message()
	if reason != "" {
		inner.Set(inner.Descriptor().Fields().ByName("reason"), protoreflect.ValueOfString(reason))
	}
	bytes, err := proto.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func TestAnAnswerIsRightOnlyForItsOwnJob(t *testing.T) {
	s := buildSchema("first")
	for name, each := range map[string]struct {
		job            job
		answer         []byte
		outcome, wrong string
	}{
		"a rejection that names the job":       {plain, answerOf(t, s, "rejected", `job "unit-7" was not started`), "rejected", ""},
		"a rejection of another job":           {plain, answerOf(t, s, "rejected", `job "unit-8" was not started`), "rejected", "unit-7"},
		"a job that had to be rejected":        {plain, answerOf(t, s, "admitted", ""), "admitted", "unit-7"},
		"a job that had to be admitted":        {job{id: 7, verdict: "admit"}, answerOf(t, s, "rejected", `"unit-7"`), "rejected", "unit-7"},
		"a rejection without a reason":         {plain, answerOf(t, s, "rejected", " "), "invalid", "without a reason"},
		"a reason that turns the page around":  {plain, answerOf(t, s, "rejected", "\"unit-7\"\u200f"), "invalid", "U+200F"},
		"an answer of neither kind":            {plain, nil, "invalid", "neither"},
		"what is no message":                   {plain, []byte{0xff}, "invalid", "no AdmitJobResponse"},
		"an arm of another schema's numbering": {plain, []byte{0x0a, 0}, "invalid", "neither"},
	} {
		outcome, wrong := s.read(each.job, each.answer)
		if outcome != each.outcome || (wrong == "") != (each.wrong == "") || !strings.Contains(wrong, each.wrong) {
			t.Errorf("%s: %s %q", name, outcome, wrong)
		}
	}
}

func TestShapesAreWhatTheyAreCalled(t *testing.T) {
	s := buildSchema("first")
	id := func(bytes []byte) (uint64, error) {
		question := dynamicpb.NewMessage(s.question)
		err := proto.Unmarshal(bytes, question)
		info := question.Get(s.question.Fields().ByName("job_info")).Message()
		return info.Get(info.Descriptor().Fields().ByName("id")).Uint(), err
	}
	for _, shape := range []string{"plain", "unknown-fields", "groups", "job-info-twice", "long-varint", "contradicting-variables"} {
		if read, err := id(s.encode(job{id: 7, project: 2001, shape: shape})); read != 7 || err != nil {
			t.Errorf("%s is about job %d: %v", shape, read, err)
		}
	}
	for _, shape := range []string{"cut-off", "bad-tag", "endless-varint", "bad-utf8"} {
		if _, err := id(s.encode(job{id: 7, project: 2001, verdict: "admit", shape: shape})); err == nil {
			t.Errorf("%s can be read", shape)
		}
	}
	if read, _ := id(buildSchema("moved").encode(plain)); read != 0 {
		t.Errorf("a field that moved is read as job %d", read)
	}
	for shape, size := range map[string]int{"empty-variables": 4 << 20, "varints": 4 << 20, "beyond-4-mib": 5 << 20} {
		if bytes := len(s.encode(job{id: 7, project: 2001, shape: shape})); bytes > size || bytes < size-2 {
			t.Errorf("%s has %d bytes", shape, bytes)
		}
	}
}

func TestAStreamIsTakenOnceOrRemovedNeverBoth(t *testing.T) {
	p := &peer{waiting: map[*waitingStream]struct{}{}, arrived: make(chan struct{}), counts: map[string]int64{}, find: time.Minute}
	for range 1_000 {
		own := &waitingStream{make(chan *question, 1)}
		p.add(own)
		q := &question{}
		taken := make(chan bool)
		go func() { taken <- p.until(1, 0, func() { delete(p.waiting, own); own.asked <- q }) }()
		if removed := p.remove(own); removed == <-taken {
			t.Fatalf("removed %v, and taken %v", removed, removed)
		}
	}
}
