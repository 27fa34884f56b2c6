/** What runs for limits by the clock, when nothing happened since it last ran: so it is nearly always. */
import { readWholeDirectory } from '../../../../functions/core/directory/index.ts';
import { silentLog } from '../../../../functions/core/environment/index.ts';
import { MemoryNotifier } from '../../../../functions/core/notify/message.ts';
import type { StoredCursor } from '../../../../functions/notices/cursor.ts';
import { sendNotices } from '../../../../functions/notices/send-notices.ts';
import { MemoryParameters } from '../../../../functions/ssm-limits/memory-parameters.ts';
import { runOn } from '../../../../functions/ssm-limits/run.ts';
import { countedAlertRecords, countedImports } from './counted-tables.ts';
import { BUDGET, type SampleDesk } from './sample-desk.ts';

interface MeasuredRun {
  readonly readUnits: number;
  readonly writeUnits: number;
}

const PATH = '/tollgate/prod/limits';
const EDITOR = 'arn:aws:iam::123456789012:user/sample';
const TIMEOUT_MS = 1_000;

async function measured(sample: SampleDesk, run: () => Promise<unknown>): Promise<MeasuredRun> {
  const before = sample.units();
  await run();
  const after = sample.units();
  return {
    readUnits: after.readUnits - before.readUnits,
    writeUnits: after.writeUnits - before.writeUnits,
  };
}

/** Measures a scheduled import from Parameter Store when nothing changed. */
export async function measureParameterRun(sample: SampleDesk, parameters: number): Promise<MeasuredRun> {
  const store = new MemoryParameters();
  for (const id of sample.groupIds.slice(0, parameters)) {
    const value = JSON.stringify({ path: sample.pathOf(id), limits: [BUDGET] });
    store.put(`${PATH}/${id}`, value, { arn: EDITOR, atMs: sample.clock.nowMs() });
  }
  let refused = 0;
  const deps = {
    path: PATH,
    parameters: store,
    imported: countedImports(sample.counted),
    desk: sample.started().desk,
    packed: { document: {}, limits: sample.packed },
    policy: sample.policy,
    directory: async () => (await readWholeDirectory(sample.table, { timeoutMs: TIMEOUT_MS }))?.directory,
    clock: sample.clock,
    random: () => 0.5,
    log: silentLog,
    metrics: {
      add: () => {
        refused += 1;
      },
      flush: () => {},
    },
  };
  await runOn({}, deps);
  const run = await measured(sample, () => runOn({}, deps));
  if (refused > 0) throw new Error('sample parameters were refused');
  return run;
}

/** Measures a run of the notices without events. */
export async function measureNoticesRun(sample: SampleDesk): Promise<MeasuredRun> {
  let stored: StoredCursor | undefined;
  const notify = new MemoryNotifier();
  const run = () =>
    sendNotices({
      cursors: {
        read: async () => {
          sample.counted.reads += 1;
          return stored;
        },
        write: async (next) => {
          sample.counted.writes += 1;
          stored = next;
          return true;
        },
      },
      limitTable: sample.limitTable,
      alerts: countedAlertRecords(sample.counted),
      policy: sample.policy,
      packed: sample.packed,
      directory: sample.started().directory,
      ledger: sample.ledger,
      usage: sample.usage,
      notify,
      clock: sample.clock,
      zone: 'UTC',
      consoleUrl: undefined,
      log: silentLog,
    });
  await run();
  await run();
  return measured(sample, run);
}
