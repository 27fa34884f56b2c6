resource "gitlab_runner_controller" "tollgate" {
  description = var.controller_description
  # In dry run GitLab asks and does not obey.
  state = "dry_run"

  lifecycle {
    # `tollgate controller enable` arms it and the watchdog disarms it: an apply does neither.
    ignore_changes = [state]
  }
}

resource "gitlab_runner_controller_instance_scope" "all" {
  count = length(var.runner_ids) == 0 ? 1 : 0

  runner_controller_id = gitlab_runner_controller.tollgate.id
}

resource "gitlab_runner_controller_runner_scope" "one" {
  for_each = toset([for id in var.runner_ids : tostring(id)])

  runner_controller_id = gitlab_runner_controller.tollgate.id
  runner_id            = tonumber(each.value)
}

resource "gitlab_runner_controller_token" "relay" {
  count = var.create_router_token ? 1 : 0

  runner_controller_id = gitlab_runner_controller.tollgate.id
  description          = "tollgate-${var.deployment}"
}

resource "aws_ssm_parameter" "router_token" {
  count = var.create_router_token ? 1 : 0

  name   = "/tollgate/${var.deployment}/router-token"
  type   = "SecureString"
  value  = gitlab_runner_controller_token.relay[0].token
  key_id = var.kms_key_id
}
