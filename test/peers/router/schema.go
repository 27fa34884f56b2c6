package main

import (
	_ "embed"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Not GitLab's: services are found by the last part of their name.
const pkg = "peer.router.v3.rpc"

//go:embed messages.txt
var messages string

// Two upgrades of a router that a running relay does not hear of: a field at another number, and one of another type.
var upgrades = map[string]func(string) string{
	"first":   func(text string) string { return text },
	"moved":   func(text string) string { return strings.Replace(text, "  3 job_info", "  8 job_info", 1) },
	"retyped": func(text string) string { return strings.Replace(text, "  4 id fixed64", "  4 id string", 1) },
}

// schema knows the messages of one version of the router by name.
type schema struct {
	set                        *descriptorpb.FileDescriptorSet
	question, answer, register protoreflect.MessageDescriptor
}

func buildSchema(upgrade string) *schema {
	file := &descriptorpb.FileDescriptorProto{
		Name:        proto.String("peer/router.proto"),
		Package:     proto.String(pkg),
		Syntax:      proto.String("proto3"),
		Dependency:  []string{"google/protobuf/duration.proto", "google/protobuf/wrappers.proto"},
		MessageType: parseMessages(upgrades[upgrade](messages)),
		EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("RefType"), Value: []*descriptorpb.EnumValueDescriptorProto{
			{Name: proto.String("REF_TYPE_UNSPECIFIED"), Number: proto.Int32(0)},
			{Name: proto.String("REF_TYPE_BRANCH"), Number: proto.Int32(2)},
		}}},
		Service: []*descriptorpb.ServiceDescriptorProto{
			// Reversed: what the server streams are the questions.
			service("RunnerControllerService", true, "AdmitJob AdmitJobResponse AdmitJobRequest"),
			service("AgentRegistrar", false, "Register RegisterRequest RegisterResponse", "Unregister RegisterRequest RegisterResponse"),
		},
	}
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto(durationpb.File_google_protobuf_duration_proto),
		protodesc.ToFileDescriptorProto(wrapperspb.File_google_protobuf_wrappers_proto),
		file,
	}}
	files, err := protodesc.NewFiles(set)
	check(err)
	find := func(name protoreflect.FullName) protoreflect.MessageDescriptor {
		found, err := files.FindDescriptorByName(pkg + "." + name)
		check(err)
		return found.(protoreflect.MessageDescriptor)
	}
	set.File[2] = protodesc.ToFileDescriptorProto(find("AdmitJobRequest").ParentFile()) // With every type resolved.
	return &schema{set, find("AdmitJobRequest"), find("AdmitJobResponse"), find("RegisterRequest")}
}

func service(name string, streams bool, methods ...string) *descriptorpb.ServiceDescriptorProto {
	described := &descriptorpb.ServiceDescriptorProto{Name: proto.String(name)}
	for _, method := range methods {
		words := strings.Fields(method)
		described.Method = append(described.Method, &descriptorpb.MethodDescriptorProto{
			Name:            proto.String(words[0]),
			InputType:       proto.String("." + pkg + "." + words[1]),
			OutputType:      proto.String("." + pkg + "." + words[2]),
			ClientStreaming: proto.Bool(streams),
			ServerStreaming: proto.Bool(streams),
		})
	}
	return described
}

// parseMessages reads a table: a line is "number name type", * repeats, and a bar puts the field into the oneof.
func parseMessages(text string) []*descriptorpb.DescriptorProto {
	var parsed []*descriptorpb.DescriptorProto
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, " ") {
			parsed = append(parsed, &descriptorpb.DescriptorProto{Name: proto.String(line)})
			continue
		}
		addField(parsed[len(parsed)-1], strings.Fields(line))
	}
	return parsed
}

func addField(message *descriptorpb.DescriptorProto, words []string) {
	number, err := strconv.ParseInt(words[0], 10, 32)
	check(err)
	field := &descriptorpb.FieldDescriptorProto{
		Name:   proto.String(strings.TrimPrefix(words[1], "*")),
		Number: proto.Int32(int32(number)),
		Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}
	if strings.HasPrefix(words[1], "*") {
		field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	kind, arm := strings.CutPrefix(words[2], "|")
	if arm {
		field.OneofIndex = proto.Int32(0)
		message.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("admission_response")}}
	}
	if scalar, known := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(kind)]; known {
		field.Type = descriptorpb.FieldDescriptorProto_Type(scalar).Enum()
	} else {
		field.TypeName = proto.String("." + pkg + "." + kind)
		if strings.HasPrefix(kind, ".") {
			field.TypeName = proto.String(kind)
		}
	}
	message.Field = append(message.Field, field)
}
