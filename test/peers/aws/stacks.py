"""Change sets as CloudFormation executes them, one at a time, and failures. moto has neither.

A line "STACK STATUS" on stdin says how the next change of a stack ends, or the present one if it is in progress. A line
"METHOD PATH STATUS" is the response to the next request whose path begins like this.
"""

import sys

from moto.cloudformation.exceptions import CloudFormationError, ValidationError
from moto.cloudformation.models import CloudFormationBackend, Event, cloudformation_backends
from moto.cloudformation.parsing import OutputMap
from moto.cloudformation.responses import CloudFormationResponse
from moto.cloudtrail.responses import CloudTrailResponse
from moto.core.responses import EmptyResult

CHANGING = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS")
endings = {}


class ChangeSetNotFound(CloudFormationError):
    code = "ChangeSetNotFound"
    message = "there is no such change set"


def read_endings():
    for line in sys.stdin:
        name, ending = line.strip().rsplit(" ", 1)
        backends = [each for regions in cloudformation_backends.values() for each in regions.values()]
        stacks = [stack for backend in backends for stack in backend.stacks.values() if stack.name == name]
        if stacks and stacks[0].status in CHANGING:
            stacks[0].status = ending
        else:
            endings[name] = ending


def refuse(environ, start_response):
    asked = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}"
    for name in [each for each in endings if asked.startswith(each)]:
        start_response(f"{endings.pop(name)} Refused", [])
        return [b""]


create_change_set_anyway = CloudFormationBackend.create_change_set


def create_change_set(self, stack_name, *rest, **more):
    for stack in [each for each in self.stacks.values() if each.name == stack_name]:
        if stack.status == "REVIEW_IN_PROGRESS":
            del self.stacks[stack.stack_id]
        elif stack.status in (*CHANGING, "ROLLBACK_COMPLETE"):
            raise ValidationError(message=f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated.")
    return create_change_set_anyway(self, stack_name, *rest, **more)


def describe_change_set(self, change_set_name):
    for change_set in self.change_sets.values():
        return change_set
    raise ChangeSetNotFound()


def execute_change_set(self, change_set_name, stack_name=None):
    made = self.describe_change_set(change_set_name)
    self.change_sets.clear()
    stack, kind = self.stacks[made.stack_id], made.change_set_type
    ending = endings.pop(stack.name, f"{kind}_COMPLETE")
    if ending == "REVIEW_IN_PROGRESS":
        raise ValidationError(message="the rehearsal refuses to execute this change set")
    is_undone = ending not in (f"{kind}_COMPLETE", f"{kind}_IN_PROGRESS")
    if kind == "CREATE":
        place = (stack.account_id, stack.region_name, made.notification_arns, made.tags, made.role_arn)
        settings = (*place, self.exports, stack.enable_termination_protection)
        stack.__init__(stack.stack_id, stack.name, made.template, made.parameters, *settings)
        stack.create_resources()
        if is_undone:
            stack.resource_map.delete()
            stack.output_map = OutputMap(stack.resource_map, {}, stack.stack_id)
        self.exports.update({export.name: export for export in stack.exports})
    elif not is_undone:
        # moto replaced an unchanged name of a parameter in SSM by what stands there.
        changed = {key: value for key, value in made.parameters.items() if value != stack.stack_parameters.get(key)}
        given = [{"ParameterKey": key, "ParameterValue": value} for key, value in changed.items()]
        self.update_stack(stack.name, made.template, made.role_arn, given, made.tags)
    if is_undone:
        broken = (stack.stack_id, stack.name, "Broken", "broken", "AWS::Lambda::Function", "CREATE_FAILED")
        stack.events.append(Event(*broken, "the rehearsal makes it fail", None))
    stack.status = ending
    stack._add_stack_event(ending)


def go_back(self):
    self.cloudformation_backend.get_stack(self._get_param("StackName")).status = "UPDATE_ROLLBACK_COMPLETE"
    return EmptyResult()


CloudFormationBackend.create_change_set = create_change_set
CloudFormationBackend.delete_change_set = lambda self, change_set_name: self.change_sets.clear()
CloudFormationBackend.describe_change_set = describe_change_set
CloudFormationBackend.execute_change_set = execute_change_set
CloudFormationResponse.continue_update_rollback = go_back
CloudFormationResponse.rollback_stack = go_back
# The CDK looks for the cause of a failure there.
CloudTrailResponse.lookup_events = lambda self: '{"Events": []}'
