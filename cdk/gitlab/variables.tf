variable "deployment" {
  description = "Name of Tollgate's deployment, as in cdk/tollgate.config.ts."
  type        = string
  default     = "prod"
}

variable "controller_description" {
  description = "What GitLab shows of the runner controller. The command `tollgate gitlab setup` adopts the controller of that description."
  type        = string
  default     = "tollgate"
}

variable "runner_ids" {
  description = "Instance runners whose jobs GitLab asks about. Empty: the jobs of all of them."
  type        = set(number)
  default     = []
}

variable "create_router_token" {
  description = "Whether Terraform makes the token of the relays and stores it. Terraform's state then holds it. Otherwise `tollgate gitlab setup` makes it, and nobody else sees it."
  type        = bool
  default     = false
}

variable "kms_key_id" {
  description = "The key that encrypts the token's parameter. Absent: the account's own for Parameter Store."
  type        = string
  default     = null
}
