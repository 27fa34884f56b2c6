/** Files such as runners have: the settings of the Runner's documentation, in our own examples. */

export const DOCKER = `concurrent = 4
check_interval = 0

[session_server]
  session_timeout = 1800

[[runners]]
  name = "docker runner"
  url = "https://gitlab.example.com/"
  id = 41
  token = "glrt-nobody-may-see-this"
  token_obtained_at = 2026-01-01T00:00:00Z
  executor = "docker"
  environment = ["SECRET_TOKEN=nobody-may-see-this-either"]
  [runners.cache]
    Type = "s3"
  [runners.feature_flags]
    FF_USE_JOB_ROUTER = true
  [runners.docker]
    image = "registry.example.com:5000/alpine:latest"
    privileged = false
    volumes = ["/cache"]
    allowed_images = ["registry.example.com:5000/**", "ruby:*"]
    allowed_services = ["postgres:*"]
    services_limit = 3
    allowed_pull_policies = ["always", "if-not-present"]
    [[runners.docker.services]]
      name = "redis:7"
      alias = "cache"
`;

export const DANGEROUS_DOCKER = `[[runners]]
  name = "dind"
  executor = "docker"
  [runners.docker]
    image = "docker:29"
    user = "1000"
    privileged = true
    cap_add = ["NET_ADMIN"]
    cap_drop = ["DAC_OVERRIDE"]
    devices = ["/dev/kvm"]
    volumes = ["/var/run/docker.sock:/var/run/docker.sock", "/cache"]
    network_mode = "host"
    allowed_images = ["**", "!*/kali*"]
    pull_policy = "if-not-present"
`;

export const KUBERNETES = `[[runners]]
  name = "cluster"
  id = 42
  executor = "kubernetes"
  [runners.kubernetes]
    namespace = "gitlab"
    namespace_per_job = true
    image = "alpine:3"
    helper_image = "registry.example.com/helper:x86"
    privileged = true
    cpu_limit = "1"
    cpu_limit_overwrite_max_allowed = "4"
    memory_limit_overwrite_max_allowed = "8Gi"
    helper_memory_limit_overwrite_max_allowed = "1Gi"
    service_cpu_request_overwrite_max_allowed = "500m"
    namespace_overwrite_allowed = "ci-.*"
    pod_labels_overwrite_allowed = ""
    bearer_token_overwrite_allowed = true
    allowed_images = ["registry.example.com/**"]
    allowed_users = ["1000", "65534"]
    allowed_groups = ["1001"]
    pull_policy = ["if-not-present", "always"]
    [runners.kubernetes.node_selector]
      gitlab = "true"
    [runners.kubernetes.build_container_security_context]
      run_as_user = 0
      [runners.kubernetes.build_container_security_context.capabilities]
        add = ["NET_ADMIN"]
    [[runners.kubernetes.volumes.host_path]]
      name = "docker"
      mount_path = "/var/run/docker.sock"
    [[runners.kubernetes.pod_spec]]
      name = "hostname"
      patch = '''
        hostname: "custom"
      '''
      patch_type = "merge"
`;

export const SHELL = `[[runners]]
  name = "shell"
  id = 43
  executor = "shell"
`;
