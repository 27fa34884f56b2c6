import type { HealthView } from '../../../functions/answers/health/evidence.ts';
import { readHealth } from '../../../functions/answers/health/judge-health.ts';
import { gitlabUnknown, readGitLabHealth } from '../../../functions/answers/health/read-gitlab.ts';
import { dynamoHealthCheck } from '../../../functions/answers/health/read-health.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { HOUR_MS, MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { ENV_CA_FILE } from '../../../relay/names.ts';
import { EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, print, text, toggle, type ValuesOf } from '../../terminal/define.ts';
import { type Paint, paintWhen, printable } from '../../terminal/table.ts';
import { rollupZone, TABLE_FLAGS } from '../ledger-flags.ts';
import { openTableAccess, withOpened } from '../open-ledger.ts';
import { parseDuration } from '../pipeline/durations.ts';
import { CONTROLLER_FLAG, GITLAB_FLAGS, readGitLabPlace } from '../reconcile/gitlab-flags.ts';
import type { DoctorFinding } from './examine.ts';

const NOT_NOTED = { policyVersion: undefined, descriptorsVersion: undefined };
const NO_TOKEN = 'GitLab was not asked: --gitlab <url> and --token-file <file>';

const DEPLOYMENT_FLAGS = {
  ...TABLE_FLAGS,
  gitlab: GITLAB_FLAGS.gitlab,
  controller: CONTROLLER_FLAG,
  'webhook-url': text(
    '<url>',
    'the webhook address, as the deployment prints it; needed if groups have a webhook of another Tollgate as well',
  ),
};

const ROUTER_FLAGS = {
  router: text('<url>', 'grpc://, grpcs://, ws:// or wss:// (kas.externalUrl of GET /api/v4/metadata)'),
  proto: text('<file>', "descriptor set of your GitLab's version (tollgate gitlab descriptors)"),
  'cert-file': text('<file>', 'PEM of a client certificate'),
  'key-file': text('<file>', `its key. ${ENV_CA_FILE} names the PEM file of a private authority`),
  wait: text('<time>', 'to wait for an admission request: 5m, 0s for not at all (default: 60s)', readTime),
  'allow-plaintext': toggle(
    'lets the token and the jobs travel unencrypted (grpc://, ws://) to another host',
  ),
};

export type RouterOptions = Omit<ValuesOf<typeof ROUTER_FLAGS>, 'router'> &
  Readonly<Record<'router' | 'token-file', string>> & { readonly caFile?: string | undefined };

const doctor = command({
  name: 'doctor',
  about: `Checks that a deployment is on and enforces, by what every part left in the table: relays, their descriptors and policy,
directory, limits, the sweep, the recount, coverage. With a token it asks GitLab, too: the token itself, licence, version, controller,
scope and tokens, the webhook of each top-level group, and the time. Changes nothing. The same check runs every hour as a function; the last line says when it ran.

With --router it checks the other end instead, before anything is deployed: the path to GitLab's job router step by step, then it
waits for one admission request and says whether the schema explains it. It answers that one request with "admitted": set the
controller to dry_run first.`,
  flags: {
    ...DEPLOYMENT_FLAGS,
    'token-file': text(
      '<file>',
      "holds the token: an administrator's of scope read_api with --gitlab, the controller's with --router",
    ),
    ...ROUTER_FLAGS,
  },
  examples: [
    'tollgate doctor --ledger tollgate-ledger',
    'tollgate doctor --ledger tollgate-ledger --gitlab https://gitlab.example.com --token-file token',
    'tollgate doctor --router wss://kas.example.com --token-file router-token --proto gitlab.binpb --wait 5m',
  ],
  exits: { 0: 'no problem', 1: 'the table does not answer at all', 2: 'problems found' },
  run: async ({ flags: values }, io) => {
    const { router, 'token-file': tokenFile } = values;
    const others = Object.keys(router === undefined ? ROUTER_FLAGS : DEPLOYMENT_FLAGS);
    const other = others.find((name) => values[name as keyof typeof values]);
    if (other !== undefined)
      throw new UsageError(
        `--${other}: belongs to a check ${router === undefined ? 'with' : 'without'} --router`,
      );
    if (router !== undefined) {
      if (tokenFile === undefined)
        throw new UsageError("--token-file is missing: expected a file with the controller's token");
      return checkRouter({ ...values, router, 'token-file': tokenFile }, io);
    }
    const zone = rollupZone(io);
    const webhookUrl = values['webhook-url'];
    const hasGitLab = values.gitlab !== undefined || values['token-file'] !== undefined;
    const place = hasGitLab ? readGitLabPlace(values, io) : undefined;
    return withOpened(openTableAccess, values, io, async ({ table, instance, description }) => {
      const look = dynamoHealthCheck({ table, instance });
      const health = await readHealth({
        ...{ table, instance, zone, clock: { ...systemClock, nowMs: io.nowMs }, random: Math.random },
        deployed: async () => (await look.read())?.deployed ?? NOT_NOTED,
        gitlab: async () =>
          place === undefined
            ? gitlabUnknown(NO_TOKEN)
            : readGitLabHealth({ calls: place, controllerId: values.controller, webhookUrl }),
      });
      const hourly = (await look.read().catch(() => undefined))?.view;
      const where = description.endsWith(instance) ? description : `${description}, for ${instance}`;
      const shown = { instance, ledger: description, ...health, hourly };
      const late = hourlyText(hourly, health.checkedAtMs);
      print(io, values, shown, () => healthText(health, where, paintWhen(io.colours)) + late);
      return health.problems === 0 ? EXIT.ok : EXIT.wouldReject;
    });
  },
});

export const commands = [doctor];

const LATE_MS = 2 * HOUR_MS;

function hourlyText(view: HealthView | undefined, nowMs: number): string {
  if (view === undefined) return 'The hourly health check has not run yet.\n';
  const ageMs = nowMs - view.checkedAtMs;
  const late = ageMs > LATE_MS ? ', which is late: see HealthProblems in cdk/RUNBOOK.md' : '';
  return `The hourly health check ran ${Math.floor(ageMs / MINUTE_MS)} minutes ago and found ${problemsText(view.problems)}${late}.\n`;
}

const problemsText = (count: number): string =>
  `${count === 0 ? 'no' : count} problem${count === 1 ? '' : 's'}`;

const PAINTED = { ok: 'good', warning: 'warn', problem: 'bad', unknown: 'dim' } as const;

function healthText({ findings, problems }: HealthView, where: string, paint: Paint): string {
  const wide = Math.max(...findings.map(({ about }) => about.length));
  const lines = findings.flatMap(({ about, severity, text, remedy }) => [
    `${paint[PAINTED[severity]](severity.padEnd(7))}  ${about.padEnd(wide)}  ${printable(text)}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(7 + 2 + wide + 2)}${paint.dim(`→ ${remedy}`)}`]),
  ]);
  return `${printable(where)}\n\n${lines.join('\n')}\n\nFound ${problemsText(problems)}.\n`;
}

function readTime(value: string, flag: string): number {
  const ms = (parseDuration(value) ?? Number.NaN) * 1_000;
  if (ms <= 3_600_000) return ms;
  throw new UsageError(`--${flag} ${value} is no time up to 60m; write 30s or 5m`);
}

async function checkRouter(options: RouterOptions & { readonly json: boolean }, io: TerminalIo) {
  const say = (text: string): void => {
    if (!options.json) io.out(`${printable(text)}\n`);
  };
  say('! This answers one real admission request with "admitted". Set the controller to dry_run first.\n');
  // The modules of the relay are needed here only.
  const { examine } = await import('./examine.ts');
  const findings: DoctorFinding[] = [];
  const shape = await examine({ ...options, caFile: io.env[ENV_CA_FILE] || undefined }, (finding) => {
    findings.push(finding);
    say(findingText(finding));
  });
  const problems = findings.filter(({ outcome }) => outcome === 'problem').length;
  if (options.json) io.out(`${JSON.stringify({ ok: problems === 0, findings, shape })}\n`);
  if (shape !== undefined) say(`\nWhat arrived, by field number (values are not shown):\n${shape}`);
  say(`\nFound ${problemsText(problems)}.`);
  return problems === 0 ? EXIT.ok : EXIT.wouldReject;
}

const SIGN = { ok: '✓', problem: '✗', note: '•', skipped: '–' } as const;
const CHECK_WIDTH = 13;

function findingText({ check, outcome, detail, remedy }: DoctorFinding): string {
  const head = `${SIGN[outcome]} ${check.padEnd(CHECK_WIDTH)} ${detail}`;
  return remedy === undefined ? head : `${head}\n${' '.repeat(CHECK_WIDTH + 3)}→ ${remedy}`;
}
