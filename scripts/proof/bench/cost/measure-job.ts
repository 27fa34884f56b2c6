/**
 * What a job costs the table and the log: counted on real admissions and settlements, by the program that is deployed, over a
 * table in memory. No figure of it is typed in.
 */
import { itemBytes, TTL_ATTRIBUTE } from '../../../../functions/core/store/index.ts';
import type { Decision } from '../../../../policies/decision.ts';
import type { AdmissionRequest } from '../../../../policies/request/request.ts';
import { createLogger, logEvents } from '../../../../relay/monitoring/log.ts';
import { PROJECTS } from '../../../cli/cost/assumptions.ts';
import type { JobUnits } from '../../../cli/cost/units.ts';
import { handClock } from '../../../local/clock/hand-clock.ts';
import { readUnitsOf, writeUnitsOf } from './counting-rollup-store.ts';
import { type RunOptions, type SampleRun, type SampleUnits, sampleDeployment } from './sample-deployment.ts';

/** Afterwards every list and every history is as long as it gets; then each project has its turn once more. */
const WARM_BATCHES = PROJECTS;
const MEASURED_BATCHES_MIN = PROJECTS;
const DAY_SECONDS = 86_400;

export async function measureJob(options: RunOptions): Promise<JobUnits> {
  const { batch, outcome } = options;
  const bench = await sampleDeployment(options);
  let batches = 0;
  while (batches < WARM_BATCHES) batches += (await bench.run(batches)).batches;
  const before = bench.units();
  const warm = batches;
  let last: SampleRun | undefined;
  while (batches - warm < MEASURED_BATCHES_MIN) {
    last = await bench.run(batches);
    batches += last.batches;
  }
  const after = bench.units();
  const jobs = (batches - warm) * batch;
  if (last === undefined || last.decision.outcome !== outcome)
    throw new Error(`a sample job was ${last?.decision.outcome ?? 'not decided'}: expected ${outcome}`);
  const each = (name: keyof SampleUnits): number => (after[name] - before[name]) / jobs;
  const { counts } = bench.rollup;
  const recordTtl = Number(last.record[TTL_ATTRIBUTE]?.N ?? 0);
  const endSeconds = last.endMs / 1000;
  return {
    writeUnits: {
      hold: each('hold'),
      announced: each('announced'),
      inbox: writeUnitsOf(last.inbox),
      settle: each('settle'),
      dueIndex: each('dueIndex'),
      rollup: each('rollup'),
      estimates: each('estimates'),
      top: each('top'),
    },
    readUnits: {
      // Admission reads them eventually.
      estimates: readUnitsOf(counts.estimatesBytes) / 2 / batch,
      ledger: each('ledgerReads'),
      rollup: each('rollupReads'),
    },
    kept: [
      { bytes: itemBytes(last.record), days: (recordTtl - endSeconds) / DAY_SECONDS },
      {
        bytes: counts.contributionBytes,
        days: (counts.contributionExpiresAtSeconds - endSeconds) / DAY_SECONDS,
      },
      {
        bytes: itemBytes(last.inbox),
        days: (Number(last.inbox[TTL_ATTRIBUTE]?.N) - endSeconds) / DAY_SECONDS,
      },
    ],
    decisionLineBytes: decisionLineBytes(last.request, last.decision),
  };
}

const LATENCY_MS = 23;

/** The line that the relay's own log writes about this answer, with its line break. */
function decisionLineBytes(request: AdmissionRequest, decision: Decision): number {
  let line = '';
  const log = createLogger('info', {
    write: (text) => {
      line += text;
    },
  });
  const rejected = decision.outcome === 'rejected';
  const observe = logEvents(log, handClock());
  observe({
    type: 'answered',
    answer: rejected ? { outcome: 'rejected', reason: decision.text } : { outcome: 'admitted' },
    via: 'ledger',
    latencyMs: LATENCY_MS,
    heard: true,
    request,
    decision,
  });
  return Buffer.byteLength(line);
}
