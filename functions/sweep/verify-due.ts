/**
 * Due holds, oldest first. Every one that GitLab was asked about ends or gets a later due time, so the due order itself is
 * the cursor: whatever cuts a run short, the next one begins with who was not asked yet.
 */

import { verdictOf } from '../core/truth/verdict.ts';
import { atOnce } from './at-once.ts';
import { lookUp } from './look-up.ts';
import { readLiveHolds } from './read-live-holds.ts';
import type { SweepRun } from './sweep-run.ts';

/** A weekend of lost webhooks on a busy day; the keys of more would be read for nothing, as no minute is enough for them. */
export const DUE_MAX = 10_000;
/** A hold GitLab cannot be asked about has an alarm of its own; a table full of them must not stop the others. */
const UNASKABLE_MS = 60 * 60_000;

export async function verifyDue(run: SweepRun): Promise<void> {
  const { live, clock, asking, concluding, tally, looked } = run;
  const nowMs = clock.nowMs();
  const due = live.filter(({ dueAtMs }) => dueAtMs < nowMs).slice(0, DUE_MAX);
  tally.due = due.length;
  tally.oldestDueAgeMs = due[0] === undefined ? 0 : nowMs - due[0].dueAtMs;
  if (due.length === 0 || !asking.mayAsk()) return;

  const holds = await readLiveHolds(
    due.map(({ jobId }) => jobId),
    run,
  );
  let seeing: Promise<boolean> | undefined;
  // A token that is no administrator's sees a 404 where a job lives in a project it may not read.
  const seesEverything = (): Promise<boolean> => {
    seeing ??= asking.runners(undefined).then(({ kind }) => kind === 'said');
    return seeing;
  };
  const unasked = await lookUp(
    // The index lags: what was postponed a moment ago is not due any more.
    holds.filter(({ dueAtMs }) => dueAtMs <= nowMs),
    asking,
    async (hold, answer) => {
      looked.add(hold.jobId);
      const { jobId } = hold;
      if (answer.kind !== 'said')
        return concluding.take({ do: 'postpone', jobId, dueAtMs: clock.nowMs() + answer.againMs });
      tally.verified += 1;
      const verdict = verdictOf(hold, answer.value, clock.nowMs());
      if (verdict.do !== 'expire' || (await seesEverything())) return concluding.take(verdict);
      tally.unaskable += 1;
      return concluding.take({ do: 'postpone', jobId, dueAtMs: clock.nowMs() + UNASKABLE_MS });
    },
    { runningFirst: false },
  );
  // GitLab cannot be asked about these at all, so nothing about them may be freed.
  const unaskable = unasked.filter(({ projectId }) => projectId === undefined);
  tally.unaskable += unaskable.length;
  await atOnce(unaskable, 1, ({ jobId }) =>
    concluding.take({ do: 'postpone', jobId, dueAtMs: clock.nowMs() + UNASKABLE_MS }),
  );
  await concluding.flush();
}
