output "controller_id" {
  description = "For gitlab.controllerId in cdk/tollgate.config.ts, where the scope is single runners."
  value       = gitlab_runner_controller.tollgate.id
}
