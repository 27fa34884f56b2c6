/** Facts about a controller before it is armed, and objections. */

import type { ReadResult } from '../../../functions/answers/health/evidence.ts';
import {
  type CanaryFinding,
  judgeCanary,
  longestAnswerMs,
} from '../../../functions/answers/health/judge-gitlab.ts';
import {
  type ArmedReport,
  armedReport,
  shadowFigures,
} from '../../../functions/answers/rollout/shadow-report.ts';
import type { ControllerScopes } from '../../../functions/core/gitlab/controller.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { type RelayBeat, SILENT_MS } from '../../../functions/core/store/health-items.ts';
import { standIn, type TerminalIo } from '../../terminal/command.ts';
import type { LedgerFlags } from '../ledger-flags.ts';
import { openIfAny, openLedger } from '../open-ledger.ts';
import { readSpan } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { openRulesInForce, type RulesFlags } from '../rules-flags.ts';
import { progressOf } from '../truth/progress.ts';
import type { RunnerController, RunnerControllers } from './runner-controllers.ts';

export interface ControllerStatus {
  readonly controller: RunnerController;
  readonly scopes: ReadResult<ControllerScopes>;
  /** Heartbeats in the table, newest first; none may be recent. */
  readonly beats: ReadResult<readonly RelayBeat[]>;
  /** Made from the recorded jobs of the last hours. */
  readonly forecast: ReadResult<ArmedReport>;
  /** True if both decisions were proven at the current GitLab. */
  readonly canary: ReadResult<CanaryFinding>;
  /** Unix ms, for the age of beats. */
  readonly nowMs: number;
}

/** Relays heard within the last two minutes: as long as the watchdog would wait. */
export const heardBeats = ({
  beats,
  nowMs,
}: Pick<ControllerStatus, 'beats' | 'nowMs'>): readonly RelayBeat[] =>
  beats.known ? beats.value.filter(({ atMs }) => nowMs - atMs <= SILENT_MS) : [];

export const hasScope = ({ instance, runnerIds }: ControllerScopes): boolean =>
  instance || runnerIds.length > 0;

/** A certain harm of arming, with its remedy. Undefined: none. */
export function refusalOf(status: ControllerStatus): 'no_scope' | 'no_relay' | undefined {
  const { scopes, controller, beats } = status;
  if (scopes.known && !hasScope(scopes.value)) return 'no_scope';
  if (heardBeats(status).length > 0) return undefined;
  // A token used within the hour proves nothing about a relay whose heartbeats have stopped.
  const silent = beats.known && beats.value.length > 0;
  return silent || controller.connected === false ? 'no_relay' : undefined;
}

/** Risks to confirm before arming: jobs that would fail, and unknown facts. */
export function risksOf(status: ControllerStatus, about = { relay: true }): readonly string[] {
  const { forecast, scopes, beats, controller, canary } = status;
  const fresh = heardBeats(status);
  const unproven = fresh.filter(
    ({ schema }) => schema?.placeholder === true || schema?.standing !== 'proven',
  );
  const risks: string[] = [];
  if (!scopes.known) risks.push(`the scopes are not known (${scopes.why})`);
  if (fresh.length === 0 && about.relay) {
    const isUsed = controller.connected === true;
    risks.push(
      `whether a relay is connected ${isUsed ? 'now ' : ''}is not known (${whyUnheard(beats)})${isUsed ? '; its token was used within the last hour' : ''}`,
    );
  }
  if (unproven.length > 0) risks.push(unprovenText(unproven));
  if (canary.known && canary.value.severity === 'problem') risks.push(canary.value.text);
  if (!forecast.known) risks.push(`how many jobs would fail is not known (${forecast.why})`);
  else if (forecast.value.wouldFail > 0)
    risks.push(`${forecast.value.wouldFail} of the last ${forecast.value.jobs} jobs would have failed`);
  return risks;
}

const whyUnheard = (beats: ControllerStatus['beats']): string =>
  beats.known ? 'no relay writes heartbeats beside these books' : beats.why;

const unprovenText = (unproven: readonly RelayBeat[]): string =>
  unproven.some(({ schema }) => schema?.placeholder === true)
    ? "a relay reads questions with the descriptors that come along, which are no GitLab's"
    : 'no relay says that its descriptors were proven by real questions';

export interface StatusFlags extends LedgerFlags, RulesFlags {
  readonly since: string;
}

/**
 * Reads the scopes from GitLab, and heartbeats, the canary's outcome and recorded jobs from the ledger. Unknown facts
 * are part of the status.
 *
 * @throws {Error} if a ledger was named and does not answer.
 */
export async function readStatus(
  controller: RunnerController,
  controllers: RunnerControllers,
  flags: StatusFlags,
  io: TerminalIo,
): Promise<ControllerStatus> {
  const span = readSpan(flags.since, undefined, io.nowMs(), rollupZone(io));
  const scopes = await askGitLab(() => controllers.scopes(controller.id));
  const gitlabVersion = await controllers.version();
  const books = await openIfAny(standIn(io, openLedger), flags, io);
  const nowMs = io.nowMs();
  if (!books.known) return { controller, scopes, beats: books, forecast: books, canary: books, nowMs };
  const { value: ledger } = books;
  const progress = progressOf('jobs replayed', io);
  try {
    const beats: ControllerStatus['beats'] =
      ledger.relayBeats === undefined
        ? { known: false, why: `${ledger.description} has no heartbeats` }
        : { known: true, value: await ledger.relayBeats() };
    const descriptors = heardBeats({ beats, nowMs }).flatMap(({ schema }) => schema?.hash ?? []);
    const canary: ControllerStatus['canary'] =
      ledger.canary === undefined
        ? { known: false, why: `${ledger.description} keeps none` }
        : {
            known: true,
            value: judgeCanary({
              outcome: await ledger.canary(),
              descriptors,
              answerWithinMs: longestAnswerMs(heardBeats({ beats, nowMs })),
              gitlabVersion,
              nowMs,
            }),
          };
    const rules = await openRulesInForce(flags, ledger, io);
    const options = { ...span, rules, counts: () => true, onJob: progress.step };
    const { ifArmed: found } = await shadowFigures(ledger.store, options);
    const { directory } = rules;
    const forecast: ControllerStatus['forecast'] =
      found.jobs === 0
        ? { known: false, why: `${ledger.description} has no job of that time` }
        : { known: true, value: armedReport(found, { directory, gitlabUrl: ledger.gitlabUrl }) };
    return { controller, scopes, beats, forecast, canary, nowMs };
  } finally {
    progress.done();
    await ledger.close();
  }
}

async function askGitLab<T>(ask: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { known: true, value: await ask() };
  } catch (error) {
    if (error instanceof GitLabError) return { known: false, why: error.message };
    throw error;
  }
}
