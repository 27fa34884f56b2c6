import { resolve } from 'node:path';
import { waitingLines, waitingText } from '../../../functions/answers/health/waiting.ts';
import { RETRY_OUTCOME_TEXTS, retryOutcome } from '../../../functions/answers/job/retried.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { isReserved } from '../../../functions/core/ledger/reservation.ts';
import type { RequeueEntry } from '../../../functions/core/requeue-list.ts';
import { findGroup } from '../../../policies/directory.ts';
import type { RequeueSettings } from '../../../policies/policy.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { durationText } from '../../../policies/unit-texts.ts';
import { type Command, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, orElse, print, required, text, toggle, whole, word } from '../../terminal/define.ts';
import { printable, right, type Screen, screenOf } from '../../terminal/table.ts';
import { readUserFile, STANDARD_INPUT } from '../../terminal/user-file.ts';
import { ssmSecretStore } from '../gitlab/secret-store.ts';
import { LEDGER_EXITS, rollupZone } from '../ledger-flags.ts';
import { openLedger, withOpened } from '../open-ledger.ts';
import { readRules } from '../read-rules.ts';
import { money, shadowCount } from '../report/shadow-words.ts';
import { RULES_FLAGS, TABLE_SOURCE_FLAGS } from '../rules-flags.ts';

const READ_TIMEOUT_MS = 15_000;

const requeueLs = command({
  name: 'requeue ls',
  about: `For each group that the policy names under requeue, its latest 200 jobs, oldest first.`,
  flags: TABLE_SOURCE_FLAGS,
  examples: ['tollgate requeue ls --ledger tollgate-ledger'],
  exits: LEDGER_EXITS,
  run: async ({ flags }, io) => {
    const { policy, directory } = readRules(flags, io);
    const groups: ListedGroup[] = [];
    await withOpened(openLedger, flags, io, async ({ requeue, store }) => {
      for (const settings of policy.requeue ?? []) {
        const entries = (await requeue?.read(settings.groupId))?.entries ?? [];
        const jobs = entries.map(async (entry): Promise<ListedGroup['jobs'][number]> => {
          if (entry.newJobId === undefined) return entry;
          const [record] = await store.readRecords([entry.newJobId], { timeoutMs: READ_TIMEOUT_MS });
          return { ...entry, became: retryOutcome(record) };
        });
        groups.push({ ...settings, jobs: await Promise.all(jobs) });
      }
    });
    return print(io, flags, { groups }, (screen) => {
      if (groups.length === 0)
        return 'No group agreed to have its jobs retried: the policy has no requeue.\n';
      const pathOf = ({ groupId }: ListedGroup) =>
        directory.groupById.get(groupId)?.path ?? `group ${groupId}`;
      return groups.map((each) => groupText(each, pathOf(each), rollupZone(io), screen)).join('\n');
    });
  },
});

interface ListedGroup extends RequeueSettings {
  readonly jobs: readonly (RequeueEntry & { readonly became?: keyof typeof RETRY_OUTCOME_TEXTS })[];
}

function groupText({ jobs, retries: max }: ListedGroup, path: string, zone: string, screen: Screen): string {
  const waiting = jobs.filter(({ state }) => state === 'waiting' || state === 'retrying').length;
  const heading = printable(`${path}: ${waiting} waiting, ${jobs.length} in all`);
  if (jobs.length === 0) return `${heading}\n`;
  const titles = [right('job'), 'state', 'retries', 'rejected', 'result'];
  const rows = jobs.map(({ jobId, state, retries, rejectedAtMs, newJobId, became, why }) => [
    String(jobId),
    state,
    `${retries} of ${max}`,
    instantText(rejectedAtMs, zone),
    printable(
      newJobId === undefined ? (why ?? '') : `job ${newJobId}: ${RETRY_OUTCOME_TEXTS[became ?? 'unasked']}`,
    ),
  ]);
  return `${heading}\n${screen.table(titles, rows)}`;
}

const PARAMETER_PATH = /^(?:\/[\w.-]+){1,14}$/;

export const readStandardInput = (): string => readUserFile(STANDARD_INPUT, 'the standard input');

const consent = (
  name: string,
  { use, policyKey, setting, path }: Readonly<Record<'use' | 'policyKey' | 'setting' | 'path', string>>,
): Command =>
  command({
    name,
    about: `It is a group access token of scope api and role Developer, and is kept as a SecureString of Parameter Store. It is read from a
file, never from a flag, and is never printed. The policy's ${policyKey} has to name the group, too. To withdraw it, revoke the
token in GitLab and delete the parameter.`,
    words: { group: word('<group>', 'path or number') },
    expects: 'one group',
    flags: {
      tokens: required(
        text('<path>', `a path such as ${path}, as in the setting parameters.${setting}`, (given) => {
          if (PARAMETER_PATH.test(given)) return given;
          throw new UsageError(`--tokens "${given}": expected a path such as ${path}`);
        }),
      ),
      'token-from': required(text('<file>', 'a file with the token, or - for the standard input')),
      ...RULES_FLAGS,
    },
    examples: [`tollgate ${name} acme --tokens ${path} --token-from token.txt`],
    exits: { 0: 'kept', 1: 'Parameter Store refuses it' },
    run: async ({ flags, words: { group } }, io) => {
      const { directory } = readRules(flags, io);
      const id = /^\d+$/.test(group) ? Number(group) : findGroup(group, directory)?.id;
      if (id === undefined)
        throw new UsageError(`group "${group}" is not in the directory; give its number instead`);
      const from = flags['token-from'];
      const token = (
        from === '-'
          ? standIn(io, readStandardInput)()
          : readUserFile(resolve(io.cwd, from), `--token-from "${from}"`)
      ).trim();
      // Never print the text.
      if (!/^[\x21-\x7e]{8,}$/.test(token))
        throw new UsageError(
          'the input is not a token: expected one line of at least 8 characters without spaces',
        );
      const store = standIn(io, ssmSecretStore)(flags.tokens);
      await store.write(`${id}`, token, `of group ${id}, for ${use}`);
      const place = store.place(`${id}`);
      return print(io, flags, { kept: place }, () => `kept in ${place}\n`);
    },
  });

const BATCH = 100;

const reservationsLs = command({
  name: 'reservations ls',
  about: `Those that are due first. A job is due after its start, its timeout and 15 minutes: by
then GitLab should have reported its end. The sweep asks GitLab about it, and frees nothing before. RESERVED: a slot is kept
for a job that is being retried, until it is due. Below them: jobs that wait for headroom, as the relays reported within the
last minute.`,
  flags: {
    stale: toggle('only jobs past their due time'),
    count: orElse(text('<n>', 'the largest number', whole(1, 20_000)), 100),
    ...TABLE_SOURCE_FLAGS,
  },
  examples: ['tollgate reservations ls --stale'],
  exits: LEDGER_EXITS,
  run: async ({ flags }, io) => {
    const { stale, count } = flags;
    const { policy, directory } = readRules(flags, io);
    const nowMs = io.nowMs();
    const answer = await withOpened(openLedger, flags, io, async ({ store, relayHeartbeats }) => {
      const { dueJobs, readRecords } = createLedger({ store, clock: { ...systemClock, nowMs: io.nowMs } });
      const due = await dueJobs(stale ? nowMs : Number.MAX_SAFE_INTEGER, count);
      const held: HeldJob[] = [];
      for (let first = 0; first < due.length; first += BATCH) {
        const records = await readRecords(due.slice(first, first + BATCH).map(({ jobId }) => jobId));
        held.push(...records.flatMap((record) => heldJob(record, nowMs) ?? []));
      }
      const jobs = stale ? held.filter(({ overdueSeconds }) => overdueSeconds > 0) : held;
      const waiting = waitingLines((await relayHeartbeats?.()) ?? [], nowMs);
      return { currency: policy.currency, jobs, more: due.length === count, waiting };
    });
    const groupOf = (root: string) => directory.groupById.get(Number(root))?.path ?? `group ${root}`;
    return print(io, flags, answer, () =>
      [
        heldText(answer, stale, io),
        ...answer.waiting.map((line) => `${printable(waitingText(line, groupOf(line.root)))}\n`),
      ].join(''),
    );
  },
});

type HeldJob = NonNullable<ReturnType<typeof heldJob>>;
type HeldJobs = Readonly<{ jobs: readonly HeldJob[]; currency: string; more: boolean }>;

function heldJob(record: JobRecord | undefined, nowMs: number) {
  if (record?.dueAtMs === undefined) return undefined;
  const { jobId, state, facts, decidedAtMs, dueAtMs } = record;
  const { projectPath = null, jobName = null, runnerClass } = facts;
  return {
    ...{ jobId, projectPath, jobName, runnerClass },
    state: isReserved(record) ? 'RESERVED' : state,
    heldMicros: isReserved(record) ? 0 : facts.costMicros,
    decidedAt: new Date(decidedAtMs).toISOString(),
    dueAt: new Date(dueAtMs).toISOString(),
    overdueSeconds: Math.max(0, Math.floor((nowMs - dueAtMs) / 1000)),
  };
}

function heldText({ jobs, currency, more: isCut }: HeldJobs, stale: boolean, io: TerminalIo): string {
  if (jobs.length === 0) return stale ? 'No job is past its due time.\n' : 'No job holds anything.\n';
  const screen = screenOf(io);
  const titles = [right('job'), 'state', 'class', right('held'), 'since', 'overdue', 'project and job'];
  const rows = jobs.map(
    ({ jobId, state, runnerClass, heldMicros, decidedAt, overdueSeconds, projectPath, jobName }) => [
      String(jobId),
      state,
      printable(runnerClass),
      money(heldMicros, currency),
      instantText(Date.parse(decidedAt), rollupZone(io)),
      overdueSeconds === 0 ? '' : screen.warn(durationText(overdueSeconds, 'down')),
      printable([projectPath, jobName].filter((each) => each !== null).join(' ')),
    ],
  );
  const sum = jobs.reduce((total, { heldMicros }) => total + heldMicros, 0);
  const more = isCut ? ', and perhaps more: --count' : '';
  return `${screen.table(titles, rows)}${shadowCount(jobs.length)} jobs hold ${money(sum, currency)}${more}\n`;
}

export const commands = [
  requeueLs,
  consent('requeue consent', {
    ...{ use: 'retries', policyKey: 'requeue' },
    ...{ setting: 'requeueTokens', path: '/tollgate/prod/requeue' },
  }),
  consent('notes consent', {
    ...{ use: 'notes in merge requests', policyKey: 'request_notes' },
    ...{ setting: 'noteTokens', path: '/tollgate/prod/notes' },
  }),
  reservationsLs,
];
