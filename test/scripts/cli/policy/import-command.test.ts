import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePolicy } from '../../../../policies/document/parse-policy.ts';
import { evaluateStateless } from '../../../../policies/evaluate-stateless.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { importRunners, rulesText } from '../../../../scripts/cli/policy/import-command.ts';
import { readRunnerConfig } from '../../../../scripts/cli/policy/import-rules.ts';
import { parseYaml } from '../../../../scripts/policy/yaml-document.ts';
import { EXIT } from '../../../../scripts/terminal/command.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { runDesk } from '../desk-run.ts';
import { POLICY, project } from './documents.ts';

const DOCKER = `concurrent = 4
[[runners]]
  name = "docker runner"
  url = "https://gitlab.example.com/"
  id = 41
  token = "glrt-nobody-may-see-this"
  token_obtained_at = 2026-01-01T00:00:00Z
  executor = "docker"
  environment = ["SECRET_TOKEN=nobody-may-see-this-either"]
  [runners.docker]
    image = "registry.example.com:5000/alpine:latest"
    volumes = ["/cache"]
    allowed_images = ["registry.example.com:5000/**", "ruby:*"]
    allowed_services = ["postgres:*"]
    services_limit = 3
    allowed_pull_policies = ["always", "if-not-present"]
    [[runners.docker.services]]
      name = "redis:7"
      alias = "cache"
`;

const KUBERNETES = `[[runners]]
  name = "cluster"
  id = 42
  executor = "kubernetes"
  [runners.kubernetes]
    namespace = "gitlab"
    image = "alpine:3"
    helper_image = "registry.example.com/helper:x86"
    privileged = true
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
`;

const run = (config: string, more: readonly string[] = []) =>
  runDesk(['policy', 'import', 'config.toml', ...more], project({ 'config.toml': config }));

test('the printed document is rules, each with a comment that names the settings of the Runner', async () => {
  const { out } = await run(DOCKER);
  expect(out).toContain(`rules:
  # Runner "docker runner" of config.toml, executor docker.
  # allowed_images
  - id: "runner-41-image"
    kind: image
    mode: shadow
    match: { runner_ids: [41] }
    on_missing: admit
    allow:
      - "registry.example.com:5000/**"
      - "ruby:*"
      - "registry.example.com:5000/alpine:latest"
  # allowed_services, services_limit
`);
  expect(out).toContain('    max: 2\n');
});

test('the rules are put into a policy as they are, and validate takes them', async () => {
  const { out } = await run(`${DOCKER}${KUBERNETES}`, ['--mode', 'enforce']);
  const root = project({ 'policies/policy.yaml': POLICY.replace(/rules:\n[\s\S]*/, out) });
  const validated = await runDesk(['policy', 'validate'], root);
  expect(validated.code).toBe(EXIT.ok);
  expect(validated.out).toMatch(/8 rules/);
});

test('a runner without an id has its rules off until it is named', async () => {
  const unnamed = DOCKER.replace('id = 41', '');
  expect((await run(unnamed)).out).toMatch(/mode: off\n +on_missing/);
  const named = await run(unnamed, ['--runner-id', '7', '--mode', 'warn']);
  expect(named.out).toMatch(/mode: warn\n +match: \{ runner_ids: \[7\] \}/);
  const zero = await run(DOCKER.replace('id = 41', 'id = 0'), ['--runner-id', '7']);
  expect(zero.out).toContain('runner_ids: [7]');
  expect(await run(DOCKER, ['--runner-id', '7'])).toMatchObject({ code: EXIT.invalid });
});

test('an executor without containers has no rules, and two sections of one runner have rules each', async () => {
  const shell = await run('[[runners]]\nid = 43\nexecutor = "shell"\n');
  expect(shell).toMatchObject({ code: EXIT.ok, out: expect.stringMatching(/^rules: \[\]\n/) });
  expect(shell.err).toContain('executor "shell" runs no containers');
  const { out } = await run(`${DOCKER}${DOCKER.replace('concurrent = 4', '')}`);
  expect(out).toContain('"runner-41-image"');
  expect(out).toContain('"runner-section-2-image"');
});

test('no token of the file comes out anywhere', async () => {
  const json = await run(DOCKER, ['--json']);
  expect(JSON.parse(json.out).runners).toMatchObject([
    { name: 'docker runner', runnerId: 41, rules: [{ id: 'runner-41-image' }, {}, {}], warnings: [] },
  ]);
  for (const { out, err } of [json, await run(DOCKER)]) expect(out + err).not.toMatch(/nobody-may/);
});

test.each([
  ['token = "glrt-secret', 'config.toml:1:'],
  ['[[runners]]\nname = "a"\nname = "glrt-secret"\n', 'config.toml:3:'],
  ['[[runners]]\nexecutor = "docker"\ndocker.image = ["glrt-secret"]\n', 'runners.0.docker.image: '],
  ['concurrent = 4\n', 'has no [[runners]]'],
])('%j is refused with its place and without its text', async (config, message) => {
  const { code, err } = await run(config);
  expect(code).toBe(EXIT.invalid);
  expect(err).toContain(message);
  expect(err).not.toContain('secret');
});

/** Returns codes of rejections by the rules made of a file, read back from the text that is printed. */
function importedPolicy(config: string): (request: Partial<AdmissionRequest>) => readonly string[] {
  const runners = importRunners(
    readRunnerConfig(config, 'config.toml').map((section) => ({ ...section, id: 41 })),
  );
  const { value } = parseYaml(rulesText(runners, 'config.toml', 'enforce'), 'rules');
  const parsed = parsePolicy(
    {
      currency: 'EUR',
      prices: { version: '1', classes: [{ name: 'any', rate_per_minute: 0 }], default_class: 'any' },
      estimate: { default: '10m' },
      ...(value as object),
    },
    'v',
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return (request) =>
    evaluateStateless(
      { jobId: 1, runnerId: 41, variables: {}, ...request },
      { policy: parsed.value, nowMs: NOW_MS },
    ).violations.flatMap(({ reason }) => (reason.code === 'FIELD_MISSING' ? [] : reason.code));
}

const imageConfig = (patterns: readonly string[], image: string, list = 'allowed_images'): string =>
  `[[runners]]\nexecutor = "docker"\n[runners.docker]\nimage = ${tomlText(image)}\n${list} = [${patterns.map(tomlText).join(', ')}]\n`;

/** A basic string with every character escaped that is no letter or digit. */
const tomlText = (text: string): string =>
  `"${[...text].map((each) => (/[\w]/.test(each) && each < '\u0080' ? each : `\\U${(each.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`)).join('')}"`;

/** As doublestar, the library of the Runner, answers. */
const MATCHES: readonly (readonly [pattern: string, text: string, isTaken: boolean])[] = [
  ['a/*', 'a/b', true],
  ['a/*', 'a/b/c', false],
  ['a/**', 'a/b/c', true],
  ['**/b', 'b', true],
  ['{a,b}:?', 'b:1', true],
  ['[a-c]x', 'bx', true],
  ['[^a]x', 'ax', false],
  ['{[', 'abc/.b[', false],
  ['', '-ba', false],
  ['a[a-c]^-*', '😀/{::', false],
];

test('in lists of many patterns, bad ones among them, the rule does what the library of the Runner does', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...MATCHES),
      fc.array(fc.constantFrom('[', '{a', 'no/such', '!**', ''), { maxLength: 3 }),
      fc.constantFrom('allowed_images', 'allowed_services'),
      ([pattern, text, isTaken], others, list) => {
        const rejects = importedPolicy(imageConfig([...others, pattern], 'the/default:image', list));
        const asked = list === 'allowed_images' ? { image: text } : { services: [{ name: text }] };
        expect(rejects(asked).length === 0).toBe(isTaken);
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});

test("the Runner's own image passes beside its list, letter by letter, and nothing like it does", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z*?[\]{},\\!:/.-]{1,12}$/), (image) => {
      const rejects = importedPolicy(imageConfig(['no/such'], image));
      expect(rejects({ image })).toEqual([]);
      expect(rejects({ image: `${image}x` })).toEqual(['IMAGE_NOT_ALLOWED']);
    }),
    { numRuns: propertyRuns(50) },
  );
});

test('services count with those of the Runner, a job without an image gets its own, other runners have no rule', () => {
  const rejects = importedPolicy(DOCKER);
  const services = (...names: string[]) => rejects({ services: names.map((name) => ({ name })) });
  expect(services('postgres:16', 'redis:7')).toEqual([]);
  expect(services('redis:8')).toEqual(['IMAGE_NOT_ALLOWED']);
  expect(services('postgres:16', 'postgres:17', 'redis:7')).toEqual(['SERVICE_LIMIT']);
  expect(rejects({})).toEqual([]);
  expect(rejects({ image: 'registry.example.com:5000/a/b:1' })).toEqual([]);
  expect(rejects({ image: 'docker.io/ruby:3' })).toEqual(['IMAGE_NOT_ALLOWED']);
  expect(rejects({ image: 'evil:1', runnerId: 7 })).toEqual([]);
});

const ALWAYS = 'allowed_pull_policies = ["always"]';
const pulls = (...pullPolicies: readonly string[]) => ({ pullPolicies });
const user = (kubernetesUser: string) => ({ kubernetesUser });

test.each<[executor: string, settings: string, request: Partial<AdmissionRequest>, refused: boolean]>([
  ['docker', ALWAYS, pulls('never'), true],
  ['docker', ALWAYS, pulls('never', 'always'), false],
  ['docker', 'pull_policy = "if-not-present"', pulls('always'), true],
  ['docker', '', pulls('always'), false],
  ['docker', '', pulls('never'), true],
  // The Runner's own is always where the file says nothing, and that is not allowed here.
  ['docker', 'allowed_pull_policies = ["never"]', pulls(), true],
  ['kubernetes', ALWAYS, pulls(), true],
  ['kubernetes', 'pull_policy = "always"', pulls('never'), true],
  ['kubernetes', 'allowed_users = ["1000"]', user('1000'), false],
  ['kubernetes', 'allowed_users = ["1000"]', user('1001'), true],
  ['kubernetes', 'allowed_users = ["0"]', user('00'), false],
  ['kubernetes', 'allowed_users = ["root"]', user('1000'), true],
  ['kubernetes', '', user('0'), true],
  ['kubernetes', '', user('1000'), false],
  ['kubernetes', 'allowed_groups = ["5"]', user('1000:6'), true],
  ['kubernetes', 'allowed_groups = ["5"]', user('1000:5'), false],
])('%s with %j and a job that asks for %j: refused %s', (executor, settings, request, refused) => {
  const rejects = importedPolicy(
    `[[runners]]\nexecutor = "${executor}"\n[runners.${executor}]\n${settings}\n`,
  );
  expect(rejects(request).length > 0).toBe(refused);
});

test('what may be overwritten is bounded, and what the Runner ignores is not refused', () => {
  const rejects = importedPolicy(KUBERNETES);
  const sets = (variables: Readonly<Record<string, string>>) => rejects({ variables });
  expect(sets({ KUBERNETES_NAMESPACE_OVERWRITE: 'ci-shop' })).toEqual([]);
  expect(sets({ KUBERNETES_NAMESPACE_OVERWRITE: 'prod' })).toEqual(['OVERWRITE_NOT_ALLOWED']);
  expect(sets({ KUBERNETES_POD_LABELS_1: 'team=a', KUBERNETES_SERVICE_ACCOUNT_OVERWRITE: 'root' })).toEqual(
    [],
  );
  expect(sets({ KUBERNETES_CPU_LIMIT: '4', KUBERNETES_MEMORY_LIMIT: '8Gi' })).toEqual([]);
  expect(sets({ KUBERNETES_CPU_LIMIT: '4001m' })).toEqual(['RESOURCE_CAP']);
  expect(sets({ KUBERNETES_HELPER_MEMORY_LIMIT: '2Gi' })).toEqual(['RESOURCE_CAP']);
  expect(sets({ KUBERNETES_SERVICE_CPU_REQUEST: '1' })).toEqual(['RESOURCE_CAP']);
  expect(sets({ KUBERNETES_MEMORY_REQUEST: '1Ti' })).toEqual([]);
});
