package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// job is what a question asks about. Its verdict is what the rules of the run must say of it: "admit", "image" and
// "blocked" (rejected, with a reason that names the job), or "pass" (admitted whatever the rules say).
type job struct {
	id, project    int64
	verdict, shape string
}

func (j job) name() string { return fmt.Sprintf("unit-%d", j.id) }

// blockedProject has a limit of 0; the others have none. Their root groups are 100 to 103.
const blockedProject = 1999

func (j job) image() string {
	if j.verdict != "image" && j.verdict != "pass" {
		return "registry.example.com/acme/build:1"
	} else if j.shape == "invisible" { // Marks of direction and a space without width, which no reason may carry on.
		return "evil.example.com/\u200f\u200ejob\u200b:1"
	}
	return fmt.Sprintf("evil.example.com/job-%d:1", j.id)
}

type tree = map[string]any

func (j job) fields() tree {
	project := j.project
	if j.verdict == "blocked" {
		project = blockedProject
	}
	root := 100 + project%4
	variables := []any{
		tree{"key": "CI_JOB_NAME", "value": j.name(), "public": true},
		tree{"key": "CI_PIPELINE_SOURCE", "value": "push", "public": true},
		tree{"key": "CI_JOB_TOKEN", "value": "glcbt-peer-not-a-secret", "masked": true},
	}
	if j.shape == "contradicting-variables" {
		variables = append(variables,
			tree{"key": "CI_PROJECT_ID", "value": "1", "public": true}, tree{"key": "CI_PROJECT_ID", "value": "2", "public": true},
			tree{"key": "CI_JOB_IMAGE", "value": "evil.example.com/forged:1"}, tree{"key": "CI_JOB_ID", "value": "7"})
	}
	for index := range 20 {
		variables = append(variables, tree{"key": fmt.Sprintf("APP_SETTING_%d", index), "value": strings.Repeat("x", 30)})
	}
	return tree{
		"trace_id": "peer",
		"job_info": tree{
			"id": strconv.FormatInt(j.id, 10), "name": j.name(), "stage": "test", "pipeline_id": 5000 + j.id/10, "project_id": project,
			"project_full_path": fmt.Sprintf("root-%d/project-%d", root, project), "namespace_id": root,
			"root_namespace_id": root, "user_id": "7", "tags": []any{"linux", "docker"},
		},
		"runner_info": tree{"id": 12, "uuid": "b7a1c9", "timeout": "3600s", "tags": []any{"linux"}},
		"variables":   variables,
		"image":       tree{"name": j.image(), "pull_policy": []any{"always"}},
		"git_info":    tree{"ref": "main", "ref_type": "REF_TYPE_BRANCH", "protected": true},
		"services":    []any{tree{"name": "postgres:17", "alias": "db"}},
	}
}

// encode writes the question as this router's version does, then makes it what its shape says.
func (s *schema) encode(j job) []byte {
	fields := j.fields()
	if j.shape == "no-id" {
		delete(fields["job_info"].(tree), "id")
	}
	return s.shaped(j, s.marshal(fields))
}

// marshal fills the question by names, as JSON: an id as text suits every type it may have.
func (s *schema) marshal(fields tree) []byte {
	text, err := json.Marshal(fields)
	check(err)
	message := dynamicpb.NewMessage(s.question)
	check(protojson.Unmarshal(text, message))
	bytes, err := proto.Marshal(message)
	check(err)
	return bytes
}

func (s *schema) shaped(j job, whole []byte) []byte {
	services, variables := s.question.Fields().ByName("services"), s.question.Fields().ByName("variables").Number()
	filled := func(unit []byte, size int) []byte {
		return append(whole, []byte(strings.Repeat(string(unit), (size-len(whole))/len(unit)))...)
	}
	tagged := func(field protowire.Number, kind protowire.Type, rest ...byte) []byte {
		return append(protowire.AppendTag(nil, field, kind), rest...)
	}
	switch j.shape {
	// Each of these can be read, and must be.
	case "unknown-fields":
		for field := protowire.Number(3000); field < 3040; field++ {
			whole = append(whole, tagged(field, protowire.VarintType, 1)...)
			whole = append(whole, tagged(field, protowire.BytesType, 3, 'n', 'e', 'w')...)
			whole = append(whole, tagged(field, protowire.Fixed64Type, 1, 2, 3, 4, 5, 6, 7, 8)...)
		}
	case "groups":
		group := append(tagged(3001, protowire.StartGroupType), tagged(1, protowire.VarintType, 5)...)
		whole = append(whole, append(group, tagged(3001, protowire.EndGroupType)...)...)
	case "job-info-twice": // Merged, and the last value counts: another project comes first, then the real one.
		other := job{id: j.id + 1, project: blockedProject, verdict: j.verdict}.fields()
		whole = append(s.marshal(tree{"job_info": other["job_info"]}), whole...)
	case "long-varint": // Ten bytes where one would do.
		whole = append(whole, tagged(3002, protowire.VarintType, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00)...)
	// These cost a reader dearly, or cannot be read at all.
	case "empty-variables":
		return filled(tagged(variables, protowire.BytesType, 0), 4<<20)
	case "varints":
		return filled(tagged(15, protowire.VarintType, 1), 4<<20)
	case "beyond-4-mib":
		return filled(tagged(variables, protowire.BytesType, 0), 5<<20)
	case "deep-groups":
		open := strings.Repeat(string(tagged(15, protowire.StartGroupType)), 20_000)
		return append(append(whole, open...), strings.Repeat(string(tagged(15, protowire.EndGroupType)), 20_000)...)
	case "deep-services":
		needs := services.Message().Fields().ByName("needs").Number()
		var nested []byte
		for range 5_000 {
			nested = protowire.AppendBytes(tagged(needs, protowire.BytesType), nested)
		}
		return append(whole, protowire.AppendBytes(tagged(services.Number(), protowire.BytesType), nested)...)
	case "cut-off":
		return whole[:len(whole)-7]
	case "bad-tag":
		return append(whole, 0)
	case "endless-varint":
		return append(whole, tagged(3004, protowire.VarintType, []byte(strings.Repeat("\xff", 11))...)...)
	case "bad-utf8":
		return []byte(strings.Replace(string(whole), "registry.", "registr\xff.", 1))
	}
	return whole
}

// read says what an answer is ("admitted", "rejected" or "invalid") and what is wrong with it in view of its job.
func (s *schema) read(j job, bytes []byte) (string, string) {
	answer := dynamicpb.NewMessage(s.answer)
	if err := proto.Unmarshal(bytes, answer); err != nil {
		return "invalid", "no AdmitJobResponse: " + err.Error()
	}
	arm := answer.WhichOneof(s.answer.Oneofs().ByName("admission_response"))
	if arm == nil || len(answer.GetUnknown()) > 0 {
		return "invalid", "neither or more than an admission_response"
	}
	outcome, reason := string(arm.Name()), ""
	if outcome == "rejected" {
		rejected := answer.Get(arm).Message()
		reason = rejected.Get(rejected.Descriptor().Fields().ByName("reason")).String()
		if strings.TrimSpace(reason) == "" || utf8.RuneCountInString(reason) > 10_000 {
			return "invalid", "a rejection without a reason that GitLab could show"
		}
		for _, char := range reason {
			if char != '\n' && unicode.In(char, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				return "invalid", fmt.Sprintf("a reason with the invisible character %U", char)
			}
		}
	}
	allowed := j.verdict == "admit" || j.verdict == "pass"
	if allowed && outcome == "admitted" || !allowed && strings.Contains(reason, `"`+j.name()+`"`) {
		return outcome, ""
	}
	return outcome, fmt.Sprintf("%s (%s, %s) is %s: %.160q", j.name(), j.shape, j.verdict, outcome, reason)
}
