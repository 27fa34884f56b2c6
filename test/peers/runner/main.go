// Command runner answers questions as GitLab Runner's own libraries do: one JSON object per line in, one out, in order.
package main

import (
	"bufio"
	_ "crypto/sha256" // The digests that a reference may have.
	_ "crypto/sha512"
	"encoding/json"
	"io"
	"log"
	"math/big"
	"os"
	"regexp"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/distribution/reference"
	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Question is one case. Which fields count depends on its library.
type Question struct {
	Library   string            `json:"library"`
	Pattern   string            `json:"pattern"`
	Text      string            `json:"text"`
	Variables map[string]string `json:"variables"`
}

// Answer is what the library says. Error: it takes no such input.
type Answer struct {
	Error   bool    `json:"error,omitempty"`
	Matches bool    `json:"matches,omitempty"`
	Nanos   string  `json:"nanos,omitempty"`
	Tag     string  `json:"tag,omitempty"`
	Digest  string  `json:"digest,omitempty"`
	Text    *string `json:"text,omitempty"`
}

var libraries = map[string]func(Question) Answer{
	"doublestar": func(q Question) Answer {
		matches, err := doublestar.Match(q.Pattern, q.Text)
		return Answer{Error: err != nil, Matches: err == nil && matches}
	},
	"regexp": func(q Question) Answer {
		compiled, err := regexp.Compile(q.Pattern)
		return Answer{Error: err != nil, Matches: err == nil && compiled.MatchString(q.Text)}
	},
	"quantity": func(q Question) Answer {
		quantity, err := resource.ParseQuantity(q.Text)
		if err != nil {
			return Answer{Error: true}
		}
		// The parser has rounded up to a billionth already: nothing is lost here.
		nanos := new(inf.Dec).Round(quantity.AsDec(), 9, inf.RoundUp)
		return Answer{Nanos: new(big.Int).Set(nanos.UnscaledBig()).String()}
	},
	"reference": func(q Question) Answer {
		named, err := reference.ParseNormalizedNamed(q.Text)
		if err != nil {
			return Answer{Error: true}
		}
		answer := Answer{}
		if tagged, ok := named.(reference.Tagged); ok {
			answer.Tag = tagged.Tag()
		}
		if digested, ok := named.(reference.Digested); ok {
			answer.Digest = digested.Digest().String()
		}
		return answer
	},
	"expand": func(q Question) Answer {
		text := os.Expand(q.Text, func(name string) string { return q.Variables[name] })
		return Answer{Text: &text}
	},
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for {
		var question Question
		if err := in.Decode(&question); err == io.EOF {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		answer, ok := libraries[question.Library]
		if !ok {
			log.Fatalf("no library %q", question.Library)
		}
		if err := encoder.Encode(answer(question)); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
