import { decide } from '../../../functions/core/admission/decide.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { handClock } from '../../local/clock.ts';
import { benchRequest, benchRules } from './bench-rules.ts';
import { countingStore } from './counting-store.ts';
import { countFigure, type Figure } from './figure.ts';
import { INSTANCE, memoryStore } from './load.ts';

const BATCH = 5;
const BATCHES = 12;
const JOB_SECONDS = 240;

export async function costFigures(): Promise<readonly Figure[]> {
  const clock = handClock(Date.UTC(2026, 10, 21, 9));
  const store = countingStore(
    memoryStore(clock, () => 0.5),
    INSTANCE,
  );
  const ledger = createLedger({ store, clock, random: () => 0.5 });
  const rules = benchRules(1);
  const using = { ledger, currentRules: async () => rules, clock, log: silentLog };
  for (let firstJobId = 1; firstJobId <= BATCHES * BATCH; firstJobId += BATCH) {
    const requests = Array.from({ length: BATCH }, (_, index) => benchRequest(firstJobId + index, 0));
    const decisions = await decide(requests, clock.monotonicMs() + 60_000, using);
    if (decisions.some((decision) => decision?.outcome !== 'admitted'))
      throw new Error('a job was not admitted');
    clock.advance(JOB_SECONDS * 1_000);
    const end = { durationSeconds: JOB_SECONDS, endedAtMs: clock.nowMs(), outcome: 'success' } as const;
    await ledger.settle(requests.map(({ jobId }) => ({ jobId, ...end })));
  }
  const name = 'write units of a job from hold to end, 3 counters, batches of five';
  return [countFigure(name, store.perJob(BATCHES * BATCH).unitsPerJob, { atMost: 8.4 }, 'per job')];
}
