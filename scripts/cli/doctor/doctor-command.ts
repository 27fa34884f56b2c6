import type { HealthView } from '../../../functions/answers/health/evidence.ts';
import { readHealth } from '../../../functions/answers/health/judge-health.ts';
import { gitlabUnknown, readGitLabHealth } from '../../../functions/answers/health/read-gitlab.ts';
import { dynamoHealthCheck } from '../../../functions/answers/health/read-health.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { HOUR_MS, MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { EXIT } from '../../terminal/command.ts';
import { command, print, text } from '../../terminal/define.ts';
import { type Paint, paintWhen, printable } from '../../terminal/table.ts';
import { rollupZone, TABLE_FLAGS } from '../ledger-flags.ts';
import { openTableAccess, withOpened } from '../open-ledger.ts';
import { CONTROLLER_FLAG, callsTo, GITLAB_FLAGS, readGitLabPlace } from '../reconcile/gitlab-flags.ts';

const NOT_NOTED = { policyVersion: undefined, descriptorsVersion: undefined };
const NO_TOKEN = 'GitLab was not asked: --gitlab <url> and --token-file <file>';

const doctor = command({
  name: 'doctor',
  about: `Checks that a deployment is on and enforces, by what every part left in the table: relays, their descriptors and policy,
directory, limits, the sweep, the recount, coverage. With a token it asks GitLab, too: the token itself, licence, version, controller,
scope and tokens, the webhook of each top-level group, and the time. One line for each check, with one cause and one remedy. Changes
nothing. The same check runs every hour as a function; the last line says when it ran.

npm run doctor is about the other end: what a router sends, before anything is deployed.`,
  flags: {
    ...TABLE_FLAGS,
    gitlab: GITLAB_FLAGS.gitlab,
    'token-file': text('<file>', "holds an administrator's token; scope read_api"),
    controller: CONTROLLER_FLAG,
    'webhook-url': text(
      '<url>',
      'the webhook address, as the deployment prints it; needed if groups have a webhook of another Tollgate as well',
    ),
  },
  examples: [
    'tollgate doctor --ledger tollgate-ledger',
    'tollgate doctor --ledger tollgate-ledger --gitlab https://gitlab.example.com --token-file token',
  ],
  exits: { 0: 'no problem', 1: 'the table does not answer at all', 2: 'problems found' },
  run: async ({ flags: values }, io) => {
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
            : readGitLabHealth({ calls: callsTo(place), controllerId: values.controller, webhookUrl }),
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
