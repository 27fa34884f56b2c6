import type { ReadResult } from '../../../functions/answers/health/evidence.ts';
import { judgeCanary } from '../../../functions/answers/health/judge-gitlab.ts';
import { type HealthJudgement, recentRelays } from '../../../functions/answers/health/judged.ts';
import { type ArmedReport, shadowReport } from '../../../functions/answers/rollout/shadow-report.ts';
import type { AdminAnswer } from '../../../functions/core/gitlab/admin-calls.ts';
import {
  type AdminController,
  CANARY_DESCRIPTION,
  createGitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import {
  type ControllerScopes,
  type ControllerState,
  readControllerScopes,
} from '../../../functions/core/gitlab/controller.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import type { RestCallDeps } from '../../../functions/core/gitlab/rest-call.ts';
import type { RelayHeartbeat } from '../../../functions/core/store/health-items.ts';
import { EXIT, type ExitCode, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, orElse, print, text, toggle, type ValuesOf } from '../../terminal/define.ts';
import { printable, screenOf } from '../../terminal/table.ts';
import { type LedgerFlags, rollupZone, TABLE_FLAGS } from '../ledger-flags.ts';
import { openIfAny, openLedger } from '../open-ledger.ts';
import { openRulesInForce } from '../read-rules.ts';
import { CONTROLLER_FLAG, neededGitLab, readGitLabPlace } from '../reconcile/gitlab-flags.ts';
import { confirmOnTerminal, progressOf } from '../reconcile/progress.ts';
import { armedRowsText } from '../report/shadow.ts';
import { armedSentence } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { RULES_FLAGS, type RulesFlags } from '../rules-flags.ts';

const FLAGS = {
  ...neededGitLab("holds an administrator's token; scope read_api to look, api to change"),
  controller: CONTROLLER_FLAG,
};
const STATUS_FLAGS = {
  ...FLAGS,
  since: orElse(
    text('<time>', `the recorded jobs that are decided again: 24h, 7d, a day. ${SPAN_HELP}`),
    '24h',
  ),
  ...TABLE_FLAGS,
  ...RULES_FLAGS,
};
const AT = '--gitlab https://gitlab.example.com --token-file admin-token';

const controllerStatus = command({
  name: 'controller status',
  about: `GitLab asks and obeys (enabled), asks and runs every job (dry_run) or does not ask (disabled), about jobs of the runners in its
scopes: without a scope it asks about none. Lists the relays that sent heartbeats lately, with their descriptors; GitLab itself
knows only whether the token was used within the last hour. Shows which of the last jobs would have failed, had it been armed.`,
  flags: STATUS_FLAGS,
  examples: [`tollgate controller status ${AT} --since 7d`],
  exits: {
    1: 'GitLab or the ledger that was named does not answer',
    3: 'wrong usage or invalid documents',
  },
  run: async ({ flags }, io) => printStatus(await readStatus(await find(flags, io), flags, io), flags, io),
});

const controllerEnable = command({
  name: 'controller enable',
  about: `Refuses if the controller has no
scope, because GitLab would then ask about no job, and if no relay is there, because GitLab would fail every job it asks about. Asks
first if recorded jobs would have failed, and if something is unknown: scopes, relays, descriptors, or the jobs of the last hours.
Warns if tollgate gitlab canary has not proven both answers, and asks if it found the contrary.`,
  flags: {
    ...STATUS_FLAGS,
    'require-canary': toggle(
      'refuses unless both answers are proven on this version of GitLab with the descriptors of the relays',
    ),
    yes: toggle('does not ask'),
  },
  examples: [`tollgate controller enable ${AT} --require-canary`],
  exits: {
    0: 'armed',
    1: 'GitLab or the ledger that was named does not answer',
    2: 'refused, nothing was changed',
    3: 'wrong usage or invalid documents',
  },
  run: async ({ flags }, io) => {
    const found = await find(flags, io);
    const status = await readStatus(found, flags, io);
    const { controller, canary } = status;
    const refuse = (why: string): ExitCode => {
      if (flags.json) io.out(`${JSON.stringify(statusJson(status))}\n`);
      io.err(`Nothing was changed: ${why}\n`);
      return EXIT.wouldReject;
    };
    const refusal = findRefusal(status);
    if (refusal !== undefined) return refuse(REFUSALS[refusal].replace('<id>', `${controller.id}`));
    const isProven = canary.known && canary.value.severity === 'ok';
    if (!isProven && flags['require-canary']) return refuse(`${canaryText(status)}.`);
    if (!isProven && canary.known) io.err(`Warning: ${canaryText(status)}.\n`);
    const risks = listRisks(status).join('; and ');
    if (!flags.yes && risks !== '') {
      if (!flags.json) io.err(statusText(status, false, io.columns));
      const remedy = `there is no terminal to ask; add --yes to arm although ${risks}`;
      if (!(await confirmOnTerminal(io, `Arm, although ${risks}?`, remedy))) return EXIT.wouldReject;
    }
    // GitLab's answer to a change need not say whether the controller is connected.
    const { state } = await found.controllers.set(controller.id, 'enabled');
    return printStatus({ ...status, controller: { ...controller, state } }, flags, io);
  },
});

const REFUSALS = {
  no_scope:
    'the controller has no scope, so GitLab would ask about no job, and nothing would be armed. Give it one first: glab runner-controller scope create <id> --instance',
  no_relay:
    'no relay is there, and an enabled controller without one fails every job GitLab would ask about. Start the relay first: its log says "connected".',
} as const;

const disarming = (name: 'controller dry-run' | 'controller disable', state: 'dry_run' | 'disabled') =>
  command({
    name,
    about: `Sets the runner controller to ${state}.`,
    flags: FLAGS,
    examples: [`tollgate ${name} ${AT}`],
    exits: { 1: 'GitLab does not answer' },
    run: async ({ flags }, io) => {
      const { controllers, controller } = await find(flags, io);
      const changed = await controllers.set(controller.id, state);
      return print(io, flags, changed, () => stateText(changed));
    },
  });

/** The only controller; the temporary one of a running canary is ignored. @throws {UsageError} if there are several, or none */
async function find({ controller: wanted, ...flags }: ValuesOf<typeof FLAGS>, io: TerminalIo) {
  const controllers = createRunnerControllers(readGitLabPlace(flags, io));
  if (wanted !== undefined) return { controllers, controller: await controllers.get(wanted) };
  const all = (await controllers.list()).filter(({ description }) => description !== CANARY_DESCRIPTION);
  const [only, ...others] = all;
  if (only === undefined) throw new UsageError('GitLab has no runner controller');
  const named = all.map(({ id, description, state }) => `${id} "${description}" ${state}`).join(', ');
  if (others.length > 0) throw new UsageError(`--controller is missing: GitLab has several, ${named}`);
  return { controllers, controller: await controllers.get(only.id) };
}

const printStatus = (status: ControllerStatus, flags: { readonly json: boolean }, io: TerminalIo): ExitCode =>
  print(io, flags, statusJson(status), () => statusText(status, io.colours, io.columns));

export type RunnerController = AdminController;
export type RunnerControllers = ReturnType<typeof createRunnerControllers>;

/** Needs an administrator's token, `api` for changes. @throws {GitLabError} `gitlab_unreadable` also where there is none of this number */
export function createRunnerControllers(deps: RestCallDeps) {
  const admin = createGitLabAdministration(deps);
  return {
    list: async () => orFailure(await admin.controllers()),
    get: async (id: number) => orFailure(await admin.controller(id)),
    version: async (): Promise<string | undefined> => {
      const metadata = await admin.metadata();
      return metadata.ok ? metadata.value.version : undefined;
    },
    scopes: (id: number) => readControllerScopes(id, deps),
    set: async (id: number, state: ControllerState): Promise<RunnerController> => {
      const changed = orFailure(await admin.setState(id, state));
      if (changed.state === state) return changed;
      throw new GitLabError('gitlab_unreadable', `GitLab took the change, and it is still ${changed.state}`);
    },
  };
}

function orFailure<T>(answer: AdminAnswer<T>): T {
  if (answer.ok) return answer.value;
  const { code, says, remedy } = answer.refusal;
  const isRefused = code === 'unauthorised' || code === 'forbidden';
  const failure = code === 'unavailable' ? 'gitlab_unavailable' : 'gitlab_unreadable';
  throw new GitLabError(isRefused ? 'gitlab_refused' : failure, `${says}; ${remedy}`);
}

interface ControllerStatus {
  readonly controller: RunnerController;
  readonly scopes: ReadResult<ControllerScopes>;
  /** Heartbeats in the table, newest first; none may be recent. */
  readonly heartbeats: ReadResult<readonly RelayHeartbeat[]>;
  /** Those of the last two minutes: as long as the watchdog would wait. */
  readonly heard: readonly RelayHeartbeat[];
  readonly forecast: ReadResult<ArmedReport>;
  readonly canary: ReadResult<HealthJudgement>;
  readonly nowMs: number;
}

const hasScope = ({ instance, runnerIds }: ControllerScopes): boolean => instance || runnerIds.length > 0;

function findRefusal(status: ControllerStatus): 'no_scope' | 'no_relay' | undefined {
  const { scopes, controller, heartbeats, heard } = status;
  if (scopes.known && !hasScope(scopes.value)) return 'no_scope';
  if (heard.length > 0) return undefined;
  // A token used within the hour proves nothing about a relay whose heartbeats have stopped.
  const silent = heartbeats.known && heartbeats.value.length > 0;
  return silent || controller.connected === false ? 'no_relay' : undefined;
}

const NO_BEATS = 'no relay writes heartbeats to this ledger';

function listRisks({ forecast, scopes, heartbeats, heard, canary }: ControllerStatus): readonly string[] {
  const isProven = heard.every(({ schema }) => schema?.state === 'proven' && schema.placeholder !== true);
  const risks: string[] = [];
  if (!scopes.known) risks.push(`the scopes are not known (${scopes.why})`);
  if (heard.length === 0)
    risks.push(`it is unknown if a relay is connected (${heartbeats.known ? NO_BEATS : heartbeats.why})`);
  if (!isProven) risks.push("a relay's descriptors are not proven by real admission requests");
  if (canary.known && canary.value.severity === 'problem') risks.push(canary.value.text);
  if (!forecast.known) risks.push(`the number of jobs that would fail is unknown (${forecast.why})`);
  else if (forecast.value.wouldFail > 0)
    risks.push(`${forecast.value.wouldFail} of the last ${forecast.value.jobs} jobs would have failed`);
  return risks;
}

/** Unknown facts are part of the status. @throws {Error} if a ledger was named and does not answer */
async function readStatus(
  { controller, controllers }: Awaited<ReturnType<typeof find>>,
  flags: LedgerFlags & RulesFlags & { readonly since: string },
  io: TerminalIo,
): Promise<ControllerStatus> {
  const span = readSpan(flags.since, undefined, io.nowMs(), rollupZone(io));
  const scopes = await readScopes(controllers, controller.id);
  const gitlabVersion = await controllers.version();
  const opened = await openIfAny(standIn(io, openLedger), flags, io);
  const nowMs = io.nowMs();
  if (!opened.known)
    return { controller, scopes, heartbeats: opened, heard: [], forecast: opened, canary: opened, nowMs };
  const { value: ledger } = opened;
  const lacks = (what: string) => ({ known: false, why: `${ledger.description} has no ${what}` }) as const;
  const progress = progressOf('jobs replayed', io);
  try {
    const all = await ledger.relayHeartbeats?.();
    const heard = recentRelays(all ?? [], nowMs);
    const canary = await ledger.canary?.();
    const rules = await openRulesInForce(flags, ledger, io);
    const { ifArmed } = await shadowReport(ledger.store, {
      ...{ span, rules, ledger: ledger.description, gitlabUrl: ledger.gitlabUrl, onJob: progress.step },
    });
    return {
      ...{ controller, scopes, heard, nowMs },
      heartbeats: all ? asKnown(all) : lacks('heartbeats'),
      forecast: ifArmed.jobs > 0 ? asKnown(ifArmed) : lacks('job of that time'),
      canary: ledger.canary
        ? asKnown(judgeCanary(canary, heard, gitlabVersion, nowMs))
        : lacks('outcome of a canary'),
    };
  } finally {
    progress.done();
    await ledger.close();
  }
}

const asKnown = <T>(value: T) => ({ known: true, value }) as const;

async function readScopes(controllers: RunnerControllers, id: number): Promise<ReadResult<ControllerScopes>> {
  try {
    return asKnown(await controllers.scopes(id));
  } catch (error) {
    if (error instanceof GitLabError) return { known: false, why: error.message };
    throw error;
  }
}

const MEANS: Readonly<Record<ControllerState, string>> = {
  enabled: 'GitLab asks and obeys. Without a relay it fails every job it would ask about',
  dry_run: 'GitLab asks and follows no answer: every job runs, with or without a relay',
  disabled: 'GitLab does not ask: every job runs',
};

function statusJson(status: ControllerStatus): object {
  const { controller, scopes, heartbeats, heard, forecast, canary } = status;
  const { id, description, state, connected } = controller;
  const orNull = <T>(read: ReadResult<T>): T | null => (read.known ? read.value : null);
  return {
    ...{ id, description, state, connected: connected ?? null },
    armed: state === 'enabled' ? (scopes.known ? hasScope(scopes.value) : null) : false,
    scopes: orNull(scopes),
    relays: orNull(heartbeats),
    relaysHeard: heartbeats.known ? heard.length : null,
    ifArmed: orNull(forecast),
    canary: orNull(canary),
    refusal: findRefusal(status) ?? null,
    doubts: listRisks(status),
  };
}

function stateText({ id, description, state }: RunnerController, means = MEANS[state]): string {
  const named = description === '' ? '' : ` "${printable(description)}"`;
  return `Runner controller ${id}${named} is ${state}: ${means}.\n`;
}

const orWhy = <T>(read: ReadResult<T>, text: (value: T) => string): string =>
  read.known ? text(read.value) : `not known: ${read.why}`;

function statusText(status: ControllerStatus, colours: boolean, columns: number): string {
  const { controller, scopes, heard, forecast } = status;
  const scoped = !scopes.known || hasScope(scopes.value);
  const means = scoped ? undefined : 'it has no scope, so GitLab asks about no job, and every job runs';
  const schemas = heard.flatMap(({ schema }) => {
    if (schema === undefined) return [];
    const proof = schema.placeholder === true ? 'a placeholder: nothing is rejected by it' : schema.state;
    return `${printable(schema.source)} ${schema.hash?.slice(0, 12) ?? ''}, ${proof ?? 'not said whether proven'}`;
  });
  const rows = [
    ['scope', orWhy(scopes, scopeText)],
    ['relays', relaysText(status)],
    ['schema', [...new Set(schemas)].join('; ') || 'unknown: no relay reports it'],
    ['answers', canaryText(status)],
    ['jobs', orWhy(forecast, armedSentence)],
  ] as const;
  const lines = rows.map(([name, text]) => `${name.padEnd(9)}${text}\n`);
  if (forecast.known && forecast.value.rows.length > 0)
    lines.push(armedRowsText(forecast.value, screenOf({ colours, columns })));
  return stateText(controller, means) + lines.join('');
}

function scopeText({ instance, runnerIds }: ControllerScopes): string {
  if (instance) return 'the whole instance';
  if (runnerIds.length === 0) return 'none: GitLab asks about no job';
  return `runners ${runnerIds.join(', ')}; jobs of all others are out of scope`;
}

const canaryText = ({ canary }: ControllerStatus): string =>
  orWhy(canary, ({ text, remedy }) => (remedy === undefined ? text : `${text}; ${remedy}`));

function relaysText({ controller: { connected }, heartbeats, heard, nowMs }: ControllerStatus): string {
  const streams = heard.reduce((sum, { openStreams }) => sum + openStreams, 0);
  const used =
    connected === undefined
      ? 'this GitLab does not say when the token was used'
      : `its token was ${connected ? '' : 'not '}used within the last hour`;
  const relays = orWhy(heartbeats, ([last]) => {
    if (heard.length > 0) return `${heard.length} heard within two minutes, ${streams} streams`;
    if (last === undefined) return `not known: ${NO_BEATS}`;
    return `none heard for ${Math.floor((nowMs - last.atMs) / 60_000)} min`;
  });
  return `${relays}; ${used}`;
}

export const commands = [
  controllerStatus,
  controllerEnable,
  disarming('controller dry-run', 'dry_run'),
  disarming('controller disable', 'disabled'),
];
