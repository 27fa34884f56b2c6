/** Facts about a controller before it is armed, and objections. */
import type { ReadResult } from '../../../functions/answers/health/evidence.ts';
import { judgeCanary } from '../../../functions/answers/health/judge-gitlab.ts';
import { type HealthJudgement, heardAmong } from '../../../functions/answers/health/judged.ts';
import { type ArmedReport, shadowReport } from '../../../functions/answers/rollout/shadow-report.ts';
import type { ControllerScopes } from '../../../functions/core/gitlab/controller.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import type { RelayBeat } from '../../../functions/core/store/health-items.ts';
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
  /** Those of the last two minutes: as long as the watchdog would wait. */
  readonly heard: readonly RelayBeat[];
  readonly forecast: ReadResult<ArmedReport>;
  readonly canary: ReadResult<HealthJudgement>;
  readonly nowMs: number;
}

export const hasScope = ({ instance, runnerIds }: ControllerScopes): boolean =>
  instance || runnerIds.length > 0;

/** A certain harm of arming. Undefined: none. */
export function refusalOf(status: ControllerStatus): 'no_scope' | 'no_relay' | undefined {
  const { scopes, controller, beats, heard } = status;
  if (scopes.known && !hasScope(scopes.value)) return 'no_scope';
  if (heard.length > 0) return undefined;
  // A token used within the hour proves nothing about a relay whose heartbeats have stopped.
  const silent = beats.known && beats.value.length > 0;
  return silent || controller.connected === false ? 'no_relay' : undefined;
}

export const NO_BEATS = 'no relay writes heartbeats to this ledger';

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
