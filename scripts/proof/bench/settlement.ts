import { createLedger, type JobEnd } from '../../../functions/core/ledger/index.ts';
import { deployment } from './contention.ts';
import type { Figure } from './figure.ts';
import { closedLoop } from './sides.ts';

/** Ends of one root group that the table's stream hands over at once. */
const BATCH = 20;
const IN_FLIGHT = 64;
const MODELLED_MS = 1_000;
/** How often the stream is looked at. */
const STREAM_PAUSE_MS = 50;
const DURATION_SECONDS = 240;

/** Jobs of one hot group: all admitted first and then settled, or both at once. */
async function settled(atOnce: boolean) {
  const { clock, random, store, counts, grouped } = deployment(1);
  const ledger = createLedger({ store, clock, random });
  const ends: JobEnd[] = [];
  let admitting = true;
  const ask = grouped(1);
  const admit = async (): Promise<number> => {
    const { admitted } = await closedLoop(
      async (request) => {
        const admitted = await ask(request);
        if (admitted)
          ends.push({
            jobId: request.jobId,
            durationSeconds: DURATION_SECONDS,
            endedAtMs: clock.nowMs(),
          });
        return admitted;
      },
      { clock, forMs: MODELLED_MS, inFlight: IN_FLIGHT, roots: 1, firstJobId: 1 },
    );
    admitting = false;
    return admitted;
  };
  const settle = async (): Promise<number> => {
    let applied = 0;
    while (admitting || ends.length > 0) {
      const batch = ends.splice(0, BATCH);
      if (batch.length === 0) await clock.sleep(STREAM_PAUSE_MS);
      else applied += (await ledger.settle(batch)).filter((outcome) => outcome === 'applied').length;
    }
    return applied;
  };
  return clock.run(
    (async () => {
      if (atOnce) {
        const [admitted, applied] = await Promise.all([admit(), settle()]);
        return {
          admitted,
          applied,
          units: counts.tableUnits + counts.indexUnits,
          conflicts: counts.conflicts,
        };
      }
      const admitted = await admit();
      const unitsBefore = counts.tableUnits + counts.indexUnits;
      const conflictsBefore = counts.conflicts;
      const applied = await settle();
      return {
        admitted,
        applied,
        units: counts.tableUnits + counts.indexUnits - unitsBefore,
        conflicts: counts.conflicts - conflictsBefore,
      };
    })(),
  );
}

/** What the end of a job costs, and whether admissions and ends of one group get in each other's way. */
export async function settlementFigures(): Promise<readonly Figure[]> {
  const alone = await settled(false);
  const together = await settled(true);
  const common = { unit: 'per job', kind: 'modelled' } as const;
  return [
    {
      name: `write units per settled job, 3 counters, batches of ${BATCH}`,
      value: alone.units / alone.applied,
      must: { atMost: 3.5 },
      ...common,
      note: `${alone.applied} of ${alone.admitted} jobs settled`,
    },
    {
      name: 'conflicts per job, admissions and ends of one hot group at once',
      value: together.conflicts / together.admitted,
      must: { atMost: 0.2 },
      ...common,
      note: `${together.admitted} jobs admitted and ${together.applied} settled in the same time`,
    },
  ];
}
