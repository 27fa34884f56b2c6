import { expect, test } from 'vitest';
import { JOBS_PER_SECOND, webhooksAtOnce } from '../../cdk/settings/webhooks-at-once.ts';

const WARM_MS = 20;
const START_MS = 450;

/** Lambda in virtual time: a webhook takes a started run that is free, or starts one, or is answered 429. */
function refusedIn(atOnceMax: number, jobsPerSecond: number, forMs: number): number {
  const everyMs = 1_000 / (jobsPerSecond * 4);
  const freeAtMs: number[] = [];
  let refused = 0;
  for (let nowMs = 0; nowMs < forMs; nowMs += everyMs) {
    const started = freeAtMs.findIndex((atMs) => atMs <= nowMs);
    if (started !== -1) freeAtMs[started] = nowMs + WARM_MS;
    else if (freeAtMs.length < atOnceMax) freeAtMs.push(nowMs + START_MS + WARM_MS);
    else refused += 1;
  }
  return refused;
}

test.each([1, 5, 40])(
  'a burst of ten times %i jobs a second onto no started run is answered whole',
  (jobsPerSecond) => {
    const atOnce = webhooksAtOnce(jobsPerSecond);
    expect(refusedIn(atOnce, jobsPerSecond * 10, 10_000)).toBe(0);
    // Not by being generous: a few runs less would refuse some.
    expect(refusedIn(Math.floor(atOnce * 0.9), jobsPerSecond * 10, 10_000)).toBeGreaterThan(0);
  },
);

test('what is kept by default takes 250 jobs a second that come evenly', () => {
  expect((webhooksAtOnce(JOBS_PER_SECOND.fallback) * 1_000) / WARM_MS / 4).toBe(250);
});
