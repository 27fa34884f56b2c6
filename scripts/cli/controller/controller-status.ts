import type { ReadResult } from '../../../functions/answers/health/evidence.ts';
import { judgeCanary } from '../../../functions/answers/health/judge-gitlab.ts';
import { type HealthJudgement, heardAmong } from '../../../functions/answers/health/judged.ts';
import { type ArmedReport, shadowReport } from '../../../functions/answers/rollout/shadow-report.ts';
import type { ControllerScopes, ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import type { RelayBeat } from '../../../functions/core/store/health-items.ts';
import { standIn, type TerminalIo } from '../../terminal/command.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import type { LedgerFlags } from '../ledger-flags.ts';
import { openIfAny, openLedger } from '../open-ledger.ts';
import { armedRowsText } from '../report/shadow.ts';
import { armedSentence } from '../report/shadow-words.ts';
import { readSpan } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { openRulesInForce, type RulesFlags } from '../rules-flags.ts';
import { progressOf } from '../truth/progress.ts';
import type { RunnerController, RunnerControllers } from './controller-command.ts';

export interface ControllerStatus {
  readonly controller: RunnerController;
  readonly scopes: ReadResult<ControllerScopes>;
  /** Heartbeats in the table, newest first; none may be recent. */
  readonly beats: ReadResult<readonly RelayBeat[]>;
  /** Those of the last two minutes: as long as the watchdog would wait. */
  readonly heard: readonly RelayBeat[];
  readonly forecast: ReadResult<ArmedReport>;
  readonly canary: ReadResult<HealthJudgement>;
  readonly nowMs: number;
}

const hasScope = ({ instance, runnerIds }: ControllerScopes): boolean => instance || runnerIds.length > 0;

export function refusalOf(status: ControllerStatus): 'no_scope' | 'no_relay' | undefined {
  const { scopes, controller, beats, heard } = status;
  if (scopes.known && !hasScope(scopes.value)) return 'no_scope';
  if (heard.length > 0) return undefined;
  // A token used within the hour proves nothing about a relay whose heartbeats have stopped.
  const silent = beats.known && beats.value.length > 0;
  return silent || controller.connected === false ? 'no_relay' : undefined;
}

const NO_BEATS = 'no relay writes heartbeats to this ledger';

/** Risks to confirm before arming: jobs that would fail, and unknown facts. */
export function risksOf({ forecast, scopes, beats, heard, canary }: ControllerStatus): readonly string[] {
  const isProven = heard.every(({ schema }) => schema?.standing === 'proven' && schema.placeholder !== true);
  const risks: string[] = [];
  if (!scopes.known) risks.push(`the scopes are not known (${scopes.why})`);
  if (heard.length === 0)
    risks.push(`whether a relay is connected is not known (${beats.known ? NO_BEATS : beats.why})`);
  if (!isProven) risks.push("a relay's descriptors are not proven by real questions");
  if (canary.known && canary.value.severity === 'problem') risks.push(canary.value.text);
  if (!forecast.known) risks.push(`how many jobs would fail is not known (${forecast.why})`);
  else if (forecast.value.wouldFail > 0)
    risks.push(`${forecast.value.wouldFail} of the last ${forecast.value.jobs} jobs would have failed`);
  return risks;
}

/** Unknown facts are part of the status. @throws {Error} if a ledger was named and does not answer */
export async function readStatus(
  controller: RunnerController,
  controllers: RunnerControllers,
  flags: LedgerFlags & RulesFlags & { readonly since: string },
  io: TerminalIo,
): Promise<ControllerStatus> {
  const span = readSpan(flags.since, undefined, io.nowMs(), rollupZone(io));
  const scopes = await controllers.scopes(controller.id).then(
    (value) => ({ known: true, value }) as const,
    (error: unknown) => {
      if (error instanceof GitLabError) return { known: false, why: error.message } as const;
      throw error;
    },
  );
  const gitlabVersion = await controllers.version();
  const opened = await openIfAny(standIn(io, openLedger), flags, io);
  const nowMs = io.nowMs();
  if (!opened.known)
    return { controller, scopes, beats: opened, heard: [], forecast: opened, canary: opened, nowMs };
  const { value: ledger } = opened;
  const lacks = (what: string) => ({ known: false, why: `${ledger.description} has no ${what}` }) as const;
  const progress = progressOf('jobs replayed', io);
  try {
    const all = await ledger.relayBeats?.();
    const heard = heardAmong(all ?? [], nowMs);
    const canary = await ledger.canary?.();
    const rules = await openRulesInForce(flags, ledger, io);
    const { ifArmed } = await shadowReport(ledger.store, {
      ...{ span, rules, ledger: ledger.description, gitlabUrl: ledger.gitlabUrl, onJob: progress.step },
    });
    return {
      ...{ controller, scopes, heard, nowMs },
      beats: all === undefined ? lacks('heartbeats') : { known: true, value: all },
      forecast: ifArmed.jobs === 0 ? lacks('job of that time') : { known: true, value: ifArmed },
      canary:
        ledger.canary === undefined
          ? lacks('outcome of a canary')
          : { known: true, value: judgeCanary(canary, heard, gitlabVersion, nowMs) },
    };
  } finally {
    progress.done();
    await ledger.close();
  }
}

export const MEANS: Readonly<Record<ControllerState, string>> = {
  enabled: 'GitLab asks and obeys. Without a relay it fails every job it would ask about',
  dry_run: 'GitLab asks and follows no answer: every job runs, with or without a relay',
  disabled: 'GitLab does not ask: every job runs',
};

export function statusJson(status: ControllerStatus): object {
  const { controller, scopes, beats, heard, forecast, canary } = status;
  const { id, description, state, connected } = controller;
  const orNull = <T>(read: ReadResult<T>): T | null => (read.known ? read.value : null);
  return {
    ...{ id, description, state, connected: connected ?? null },
    armed: state === 'enabled' ? (scopes.known ? hasScope(scopes.value) : null) : false,
    scopes: orNull(scopes),
    relays: orNull(beats),
    relaysHeard: beats.known ? heard.length : null,
    ifArmed: orNull(forecast),
    canary: orNull(canary),
    refusal: refusalOf(status) ?? null,
    doubts: risksOf(status),
  };
}

export function stateText({ id, description, state }: RunnerController, means = MEANS[state]): string {
  const named = description === '' ? '' : ` "${printable(description)}"`;
  return `Runner controller ${id}${named} is ${state}: ${means}.\n`;
}

const orWhy = <T>(read: ReadResult<T>, text: (value: T) => string): string =>
  read.known ? text(read.value) : `not known: ${read.why}`;

export function statusText(status: ControllerStatus, colours: boolean, columns: number): string {
  const { controller, scopes, heard, forecast } = status;
  const scoped = !scopes.known || hasScope(scopes.value);
  const means = scoped ? undefined : 'it has no scope, so GitLab asks about no job, and every job runs';
  const schemas = heard.flatMap(({ schema }) => {
    if (schema === undefined) return [];
    const proof = schema.placeholder === true ? 'a placeholder: nothing is rejected by it' : schema.standing;
    return `${printable(schema.source)} ${schema.hash?.slice(0, 12) ?? ''}, ${proof ?? 'not said whether proven'}`;
  });
  const rows = [
    ['scope', orWhy(scopes, scopeText)],
    ['relays', relaysText(status)],
    ['schema', [...new Set(schemas)].join('; ') || 'not known: no relay tells'],
    ['answers', canaryText(status)],
    ['jobs', orWhy(forecast, armedSentence)],
  ] as const;
  const report = forecast.known && forecast.value.rows.length > 0 ? forecast.value : undefined;
  const failing = report && armedRowsText(report, paintWhen(colours), columns);
  return `${stateText(controller, means)}${rows.map(([name, text]) => `${name.padEnd(9)}${text}\n`).join('')}${failing ?? ''}`;
}

function scopeText({ instance, runnerIds }: Extract<ControllerStatus['scopes'], { known: true }>['value']) {
  if (instance) return 'the whole instance';
  if (runnerIds.length === 0) return 'none: GitLab asks about no job';
  return `runners ${runnerIds.join(', ')}; jobs of all others are out of scope`;
}

export const canaryText = ({ canary }: ControllerStatus): string =>
  orWhy(canary, ({ text, remedy }) => (remedy === undefined ? text : `${text}; ${remedy}`));

function relaysText({ controller: { connected }, beats, heard, nowMs }: ControllerStatus): string {
  const streams = heard.reduce((sum, { openStreams }) => sum + openStreams, 0);
  const used =
    connected === undefined
      ? 'this GitLab does not say when the token was used'
      : `its token was ${connected ? '' : 'not '}used within the last hour`;
  const relays = orWhy(beats, ([last]) => {
    if (heard.length > 0) return `${heard.length} heard within two minutes, ${streams} streams`;
    if (last === undefined) return `not known: ${NO_BEATS}`;
    return `none heard for ${Math.floor((nowMs - last.atMs) / 60_000)} min`;
  });
  return `${relays}; ${used}`;
}
