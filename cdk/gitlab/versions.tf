terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
    # 18.10 knows runner controllers, 19.1 the signing tokens of webhooks.
    gitlab = {
      source  = "gitlabhq/gitlab"
      version = ">= 19.1.0"
    }
  }
}
