output "controller_id" {
  description = "For gitlab.controllerId in cdk/tollgate.config.ts, where the scope is single runners."
  value       = gitlab_runner_controller.tollgate.id
}

output "hook_ids" {
  description = "The webhook of each group."
  value       = { for group, hook in gitlab_group_hook.jobs : group => hook.hook_id }
}
