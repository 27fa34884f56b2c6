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

variable "groups" {
  description = "Top-level groups (path or id) whose jobs Tollgate hears of by webhook."
  type        = set(string)
}

variable "webhook_url" {
  description = "The output WebhookUrl of Tollgate's deployment."
  type        = string

  validation {
    condition     = startswith(var.webhook_url, "https://")
    error_message = "webhook_url is an address that begins with https://, as the deployment printed it."
  }
}

variable "webhook_signing_token" {
  description = "For GitLab 19.0 and newer: whsec_ and 32 random bytes in base64, one of the lines of the parameter webhook-secrets. Terraform's state holds it."
  type        = string
  default     = null
  sensitive   = true

  validation {
    condition     = var.webhook_signing_token == null || can(regex("^whsec_", var.webhook_signing_token))
    error_message = "webhook_signing_token begins with whsec_."
  }
}

variable "webhook_token" {
  description = "For GitLab 18.9 to 18.11, which cannot sign: one of the lines of the parameter webhook-tokens. Terraform's state holds it."
  type        = string
  default     = null
  sensitive   = true
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
