"""A moto server that does what the rehearsal needs and moto leaves out.

Usage: emulator.py PORT; it ends when its stdin is closed. stacks.py says what may stand in it.

Added here, as CloudFormation does it:
- a protected stack is not deleted, and the protection can be changed;
- AWS::Lambda::Url, so that its address can be an output, and AWS::Lambda::Alias;
- Fn::Cidr, Fn::GetAZs of a reference, and Fn::GetStackOutput;
- route tables go with their stack;
- one request at a time: moto reads in one thread what another changes, and breaks;
- what is written to a table is no event for a function: moto would start Docker for each write, and fails on binary values.
Functions are never run: moto would want Docker for it.
"""

import ipaddress
import os
import sys
import threading

from moto.awslambda.models import LambdaBackend, LambdaVersion
from moto.awslambda.utils import get_backend
from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import CloudFormationBackend, cloudformation_backends
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.config import default_user_config
from moto.core.common_models import CloudFormationModel
from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.ec2.models.route_tables import RouteTable
from moto.server import DomainDispatcherApplication, main

from stacks import read_endings, refuse


class Ignored(CloudFormationModel):
    """A resource of a type that moto does not know: it has a name that others may refer to, and does nothing."""

    __module__ = "moto.cloudformation.models"

    def __init__(self, name):
        self.name = name

    @property
    def physical_resource_id(self):
        return self.name

    @staticmethod
    def cloudformation_name_type():
        return ""

    @staticmethod
    def cloudformation_type():
        return "Tollgate::Rehearsal::Ignored"

    @classmethod
    def has_cfn_attr(cls, attr):
        return True

    def get_cfn_attribute(self, attribute_name):
        return f"arn:aws:ignored:us-east-1:123456789012:{self.name}"

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name, cloudformation_json, account_id, region_name, **kwargs
    ):
        return cls(resource_name)

    @classmethod
    def update_from_cloudformation_json(
        cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name
    ):
        return original_resource

    def delete(self, account_id, region_name):
        pass


# CloudFormationModel is a direct base, too: moto looks for its direct subclasses only.
class FunctionUrl(Ignored, CloudFormationModel):
    """The address of a function; moto can make one, but not from a template."""

    # moto files a model under the second part of its module.
    __module__ = "moto.awslambda.models"

    @staticmethod
    def cloudformation_type():
        return "AWS::Lambda::Url"

    def get_cfn_attribute(self, attribute_name):
        return self.name if attribute_name == "FunctionArn" else self.url

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name, cloudformation_json, account_id, region_name, **kwargs
    ):
        properties = cloudformation_json["Properties"]
        made = cls(properties["TargetFunctionArn"])
        config = get_backend(account_id, region_name).create_function_url_config(made.name, properties)
        # AWS ends the address with a slash.
        made.url = config.url.rstrip("/") + "/"
        return made


class FunctionAlias(Ignored, CloudFormationModel):
    """It has the name that others refer to; a rollout of a new version takes no time here."""

    __module__ = "moto.awslambda.models"

    @staticmethod
    def cloudformation_type():
        return "AWS::Lambda::Alias"

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name, cloudformation_json, account_id, region_name, **kwargs
    ):
        properties = cloudformation_json["Properties"]
        name, function, version = (properties[each] for each in ("Name", "FunctionName", "FunctionVersion"))
        return cls(get_backend(account_id, region_name).create_alias(name, function, version, "", "").arn)


def update_termination_protection(self):
    stack = self.cloudformation_backend.get_stack(self._get_param("StackName"))
    wanted = self._get_param("EnableTerminationProtection")
    stack.enable_termination_protection = str(wanted).lower() == "true"
    return ActionResult({"StackId": stack.stack_id})


delete_anyway = CloudFormationBackend.delete_stack


def delete_stack(self, name_or_stack_id):
    for stack in list(self.stacks.values()):
        if name_or_stack_id in (stack.stack_id, stack.name) and stack.enable_termination_protection:
            message = f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
            raise ValidationError(message=message)
    delete_anyway(self, name_or_stack_id)


known_json = parsing.clean_json


def clean_json(part, resources_map):
    if isinstance(part, dict) and "Fn::Cidr" in part:
        block, count, bits = (known_json(each, resources_map) for each in part["Fn::Cidr"])
        subnets = ipaddress.ip_network(block).subnets(new_prefix=32 - int(bits))
        return [str(subnet) for _, subnet in zip(range(int(count)), subnets)]
    if isinstance(part, dict) and "Fn::GetStackOutput" in part:
        wanted = part["Fn::GetStackOutput"]
        backend = cloudformation_backends[resources_map["AWS::AccountId"]][resources_map["AWS::Region"]]
        return backend.get_stack(wanted["StackName"]).output_map[wanted["OutputName"]].value
    if isinstance(part, dict) and isinstance(part.get("Fn::GetAZs"), dict):
        return known_json({"Fn::GetAZs": known_json(part["Fn::GetAZs"], resources_map)}, resources_map)
    return known_json(part, resources_map)


def delete_route_table(self, account_id, region_name):
    self._associations.clear()
    ec2_backends[account_id][region_name].delete_route_table(self.id)


def keep_dynamodb_items(self, function_arn, items, source):
    return "{}"


answer_at_once = DomainDispatcherApplication.__call__
one_at_a_time = threading.Lock()


def answer_alone(self, environ, start_response):
    with one_at_a_time:
        return refuse(environ, start_response) or answer_at_once(self, environ, start_response)


known_class = parsing.resource_class_from_type


def resource_class_from_type(resource_type):
    if resource_type.startswith("Custom::") or resource_type in parsing.get_model_map():
        return known_class(resource_type)
    return Ignored


DomainDispatcherApplication.__call__ = answer_alone
LambdaVersion.get_cfn_attribute = lambda self, attribute_name: str(self.version)
LambdaVersion.has_cfn_attr = classmethod(lambda cls, attr: attr == "Version")
CloudFormationResponse.update_termination_protection = update_termination_protection
CloudFormationBackend.delete_stack = delete_stack
LambdaBackend.send_dynamodb_items = keep_dynamodb_items
RouteTable.delete = delete_route_table
parsing.clean_json = clean_json
parsing.resource_class_from_type = resource_class_from_type

default_user_config["lambda"]["use_docker"] = False


def end_with_stdin():
    read_endings()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_stdin, daemon=True).start()
    main(["--host", "127.0.0.1", "--port", sys.argv[1]])
