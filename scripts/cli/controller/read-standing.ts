import type { ReadResult } from '../../../functions/answers/health/evidence.ts';
import { judgeCanary, longestAnswerMs } from '../../../functions/answers/health/judge-gitlab.ts';
import { shadowFigures } from '../../../functions/answers/rollout/shadow-report.ts';
import { GitLabError } from '../../../functions/core/gitlab/index.ts';
import type { TerminalIo } from '../../terminal/command.ts';
import type { LedgerFlags } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openIfAny } from '../ledger/open-ledger.ts';
import { armedReport } from '../report/shadow-words.ts';
import { readSpan } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { openRulesInForce, type RulesFlags } from '../rules-flags.ts';
import { progressOf } from '../truth/progress.ts';
import type { RunnerController, RunnerControllers } from './runner-controllers.ts';
import { type ControllerStanding, heardBeats } from './standing.ts';

export interface StandingFlags extends LedgerFlags, RulesFlags {
  readonly since?: string | undefined;
}

interface StandingAsked {
  readonly controller: RunnerController;
  readonly controllers: RunnerControllers;
  readonly flags: StandingFlags;
  readonly open: OpenLedger;
}

/**
 * GitLab's word on the scopes, and what the books say of relays and of the jobs of the last hours. What cannot be found out
 * is part of the answer; a ledger that was named and does not answer is a failure.
 */
export async function readStanding(asked: StandingAsked, io: TerminalIo): Promise<ControllerStanding> {
  const { controller, controllers, flags, open } = asked;
  const span = readSpan(flags.since ?? '24h', undefined, io.nowMs(), rollupZone(io));
  const scopes = await askGitLab(() => controllers.scopes(controller.id));
  const gitlabVersion = await controllers.version();
  const books = await openIfAny(open, flags, io);
  const nowMs = io.nowMs();
  if (!books.known) return { controller, scopes, beats: books, forecast: books, canary: books, nowMs };
  const { value: ledger } = books;
  const progress = progressOf('jobs replayed', io);
  try {
    const beats: ControllerStanding['beats'] =
      ledger.relayBeats === undefined
        ? { known: false, why: `${ledger.description} has no heartbeats` }
        : { known: true, value: await ledger.relayBeats() };
    const descriptors = heardBeats({ beats, nowMs }).flatMap(({ schema }) => schema?.hash ?? []);
    const canary: ControllerStanding['canary'] =
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
    const forecast: ControllerStanding['forecast'] =
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
