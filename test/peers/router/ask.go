package main

import (
	"sync"
	"time"
)

// load is a number of questions: how many, how fast, about what.
type load struct {
	Count     int      `json:"count"`      // 0: until "stop"
	InFlight  int      `json:"in_flight"`  // at once
	PerSecond int      `json:"per_second"` // 0: as fast as they are answered
	First     int64    `json:"first"`      // id of the first job
	Same      bool     `json:"same"`       // every question is about that one job
	Projects  int64    `json:"projects"`   // over how many projects
	Shapes    []string `json:"shapes"`     // taken in turn
	Verdicts  []string `json:"verdicts"`   // not in step with shapes and projects: every combination comes
	Schema    string   `json:"schema"`     // of which upgrade of the router
}

// tally is what came of a load. Outcomes: admitted, rejected, invalid, late (after the router's patience), none (ended
// without an answer), nowhere (no stream in time), unsent (no stream took it), "error <code>".
type tally struct {
	Outcomes map[string]int `json:"outcomes"`
	Wrong    int            `json:"wrong"`
	Samples  []string       `json:"samples"` // of what is wrong
}

func (p *peer) ask(l load, stop <-chan struct{}) tally {
	result := tally{Outcomes: map[string]int{}, Samples: []string{}}
	var mutex sync.Mutex
	jobs := make(chan job)
	go l.jobs(jobs, stop)
	var workers sync.WaitGroup
	for range l.InFlight {
		workers.Go(func() {
			for j := range jobs {
				outcome, wrong := p.askOne(j, p.schemas[l.Schema].encode(j))
				mutex.Lock()
				result.Outcomes[outcome]++
				if wrong != "" {
					result.Wrong++
					result.Samples = append(result.Samples, wrong)[:min(len(result.Samples)+1, 5)]
				}
				mutex.Unlock()
			}
		})
	}
	workers.Wait()
	return result
}

func (l load) jobs(jobs chan<- job, stop <-chan struct{}) {
	defer close(jobs)
	for index := 0; l.Count == 0 || index < l.Count; index++ {
		if l.PerSecond > 0 {
			time.Sleep(time.Second / time.Duration(l.PerSecond))
		}
		j := job{id: l.First, project: 2001, shape: l.Shapes[index%len(l.Shapes)], verdict: l.Verdicts[0]}
		if !l.Same {
			j.id, j.project = l.First+int64(index), 2001+int64(index)%l.Projects
			j.verdict = l.Verdicts[(index+index/len(l.Shapes)+index/int(l.Projects))%len(l.Verdicts)]
		}
		select {
		case jobs <- j:
		case <-stop:
			return
		}
	}
}

// askOne hands a question to a waiting stream. One that could not be sent goes to the next stream, a few times.
func (p *peer) askOne(j job, bytes []byte) (outcome, wrong string) {
	for range 3 {
		q := &question{job: j, bytes: bytes, ended: make(chan string, 1)}
		if !p.take(q) {
			return "nowhere", j.name() + " found no stream"
		}
		if outcome = <-q.ended; outcome == "admitted" || outcome == "rejected" || q.wrong != "" {
			return outcome, q.wrong
		} else if outcome != "unsent" {
			break
		}
	}
	return outcome, j.name() + " (" + j.shape + ") ended as " + outcome
}
