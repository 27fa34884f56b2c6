package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// patience is how long a question waits for a stream, and then for its answer.
const patience = 20 * time.Second

// peer is a job router: streams that wait, one of which is taken for each question.
type peer struct {
	age, grace time.Duration // of a connection; 0: none
	schemas    map[string]*schema
	token      atomic.Value

	turn    sync.Mutex // of questions that look for a stream; Go's is fair to who waits long
	mutex   sync.Mutex
	waiting map[*waitingStream]struct{}
	arrived chan struct{} // closed and made anew whenever a stream comes
	counts  map[string]int64
}

type waitingStream struct{ asked chan *question }

type question struct {
	job   job
	bytes []byte
	ended chan string // one of the outcomes of a tally; "unsent" may be tried again
	wrong string
}

// server is set up as GitLab's: 10 MiB messages, no pings more often than every 20 s, connections that age.
func (p *peer) server() *grpc.Server {
	params := keepalive.ServerParameters{Time: 50 * time.Second, Timeout: 20 * time.Second}
	if p.age > 0 {
		params.MaxConnectionAge, params.MaxConnectionAgeGrace = p.age, p.grace
	}
	settings := []grpc.ServerOption{
		grpc.ForceServerCodec(rawCodec{}), grpc.InTapHandle(p.authenticate),
		grpc.KeepaliveParams(params), grpc.StatsHandler(connections{p}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 20 * time.Second, PermitWithoutStream: true}),
		grpc.MaxRecvMsgSize(messageBytesMax), grpc.MaxSendMsgSize(messageBytesMax),
	}
	server := grpc.NewServer(settings...)
	stream := func(name string, handler grpc.StreamHandler) grpc.StreamDesc {
		return grpc.StreamDesc{StreamName: name, Handler: handler, ServerStreams: true, ClientStreams: true}
	}
	server.RegisterService(&grpc.ServiceDesc{ServiceName: pkg + ".RunnerControllerService", Streams: []grpc.StreamDesc{
		stream("AdmitJob", p.admitJob),
	}}, nil)
	server.RegisterService(&grpc.ServiceDesc{ServiceName: pkg + ".AgentRegistrar", Streams: []grpc.StreamDesc{
		stream("Register", p.announced("registered")), stream("Unregister", p.announced("unregistered")),
	}}, nil)
	return server
}

func (p *peer) authenticate(ctx context.Context, info *tap.Info) (context.Context, error) {
	if strings.Join(info.Header.Get("authorization"), ",") == "Bearer "+p.token.Load().(string) &&
		strings.Join(info.Header.Get("gitlab-agent-type"), ",") == "runnerc" {
		return ctx, nil
	}
	p.count("refused")
	return ctx, status.Error(codes.Unauthenticated, "unauthenticated")
}

// announced serves a unary call, which is a stream of one message each way.
func (p *peer) announced(count string) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		var bytes []byte
		if err := stream.RecvMsg(&bytes); err != nil {
			return err
		}
		request := dynamicpb.NewMessage(p.schemas["first"].register)
		if proto.Unmarshal(bytes, request) != nil || len(request.GetUnknown()) > 0 ||
			request.Get(request.Descriptor().Fields().ByName("instance_id")).Int() <= 0 {
			return status.Error(codes.InvalidArgument, "expecting an instance_id above 0 and nothing unknown")
		}
		p.count(count)
		return stream.SendMsg(&[]byte{})
	}
}

// admitJob waits to be taken for a question. A stream that comes of age first ends with OK, as GitLab's do.
func (p *peer) admitJob(_ any, stream grpc.ServerStream) error {
	own := &waitingStream{make(chan *question, 1)}
	p.add(own)
	var aged <-chan time.Time
	if p.age > 0 {
		// After GOAWAY, which gRPC sends at the age give or take a tenth.
		aged = time.After(p.age*5/4 - time.Since(stream.Context().Value(began{}).(time.Time)))
	}
	select {
	case q := <-own.asked:
		return p.exchange(stream, q)
	case <-stream.Context().Done():
	case <-aged:
	}
	if p.remove(own) {
		return nil
	}
	return p.exchange(stream, <-own.asked) // Taken in this very moment.
}

func (p *peer) exchange(stream grpc.ServerStream, q *question) error {
	if err := stream.SendMsg(&q.bytes); err != nil {
		q.ended <- "unsent"
		return err
	}
	p.count("questions")
	asked := time.Now()
	var bytes []byte
	answered := make(chan error, 1)
	go func() { answered <- stream.RecvMsg(&bytes) }()
	select {
	case err := <-answered:
		if err != nil { // EOF is a client that left without an answer.
			q.ended <- map[bool]string{true: "none", false: "error " + status.Code(err).String()}[errors.Is(err, io.EOF)]
			return err
		}
	case <-time.After(2 * patience):
		q.ended <- "none"
		return status.Error(codes.DeadlineExceeded, "no answer in time")
	}
	outcome, wrong := p.schemas["first"].read(q.job, bytes)
	p.count(outcome)
	if time.Since(asked) > patience {
		outcome, wrong = "late", q.job.name()+" was answered too late"
	}
	q.wrong = wrong
	q.ended <- outcome
	if stream.RecvMsg(&bytes) == nil { // One answer, then the client's half-close.
		p.count("second")
	}
	return nil
}

func (p *peer) count(what string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.counts[what]++
}

func (p *peer) add(stream *waitingStream) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.waiting[stream] = struct{}{}
	close(p.arrived)
	p.arrived = make(chan struct{})
}

// remove takes a stream out of the pool; false when a question has taken it already.
func (p *peer) remove(stream *waitingStream) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_, there := p.waiting[stream]
	delete(p.waiting, stream)
	return there
}

// until waits for a moment with so many waiting streams; false when none came in time. It runs act within that moment.
func (p *peer) until(streams int, within time.Duration, act func()) bool {
	timeout := time.After(within)
	for {
		p.mutex.Lock()
		enough, arrived := len(p.waiting) >= streams, p.arrived
		if enough {
			act()
		}
		p.mutex.Unlock()
		if enough {
			return true
		}
		select {
		case <-arrived:
		case <-timeout:
			return false
		}
	}
}

// take hands the question, in its turn, to one of the waiting streams: the first of an unordered map, as GitLab's does.
func (p *peer) take(q *question) bool {
	deadline := time.Now().Add(patience)
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.until(1, time.Until(deadline), func() {
		for stream := range p.waiting {
			delete(p.waiting, stream)
			stream.asked <- q
			return
		}
	})
}

func (p *peer) report() (report map[string]int64) {
	p.until(0, 0, func() { report = maps.Clone(p.counts); report["waiting"] = int64(len(p.waiting)) })
	return report
}

// rawCodec leaves messages as bytes: the schema changes under a running server, and questions may be no messages at all.
type rawCodec struct{}

func (rawCodec) Name() string                       { return "proto" }
func (rawCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = data; return nil }

type began struct{}

// connections lets every stream know when its connection began.
type connections struct{ *peer }

func (c connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	c.count("connections")
	return context.WithValue(ctx, began{}, time.Now())
}
func (connections) HandleConn(context.Context, stats.ConnStats)                     {}
func (connections) HandleRPC(context.Context, stats.RPCStats)                       {}
func (connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }
