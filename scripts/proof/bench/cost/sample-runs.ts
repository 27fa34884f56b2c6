/** What runs for limits by the clock, when nothing happened since it last ran: so it is nearly always. */
import { readWholeDirectory } from '../../../../functions/core/directory/index.ts';
import { silentLog } from '../../../../functions/core/environment/index.ts';
import { MemoryNotifier } from '../../../../functions/core/notify/index.ts';
import type { StoredCursor } from '../../../../functions/notices/gather/cursor.ts';
import { sendNotices } from '../../../../functions/notices/send-notices.ts';
import { MemoryParameters } from '../../../../functions/ssm-limits/memory-parameters.ts';
import { syncLimits } from '../../../../functions/ssm-limits/sync.ts';
import { countedMarks } from './counted-tables.ts';
import { BUDGET, type SampleDesk } from './sample-desk.ts';

interface MeasuredRun {
  readonly readUnits: number;
  readonly writeUnits: number;
}

const PATH = '/tollgate/prod/limits';
const EDITOR = 'arn:aws:iam::123456789012:user/sample';
/** Parameters that one run works off. */
const CHANGED_MAX = 1_000;
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

/** The taking over from Parameter Store, with so many parameters in it. */
export async function measureParameterRun(
  sample: SampleDesk,
  parameters: number,
): Promise<MeasuredRun & { readonly calls: number }> {
  const store = new MemoryParameters();
  for (const id of sample.groupIds.slice(0, parameters)) {
    const value = JSON.stringify({ path: sample.pathOf(id), limits: [BUDGET] });
    store.put(`${PATH}/${id}`, value, { arn: EDITOR, atMs: sample.clock.nowMs() });
  }
  const deps = {
    path: PATH,
    parameters: store,
    marks: countedMarks(sample.counted),
    desk: sample.started().desk,
    packed: { document: {}, limits: sample.packed },
    policy: sample.policy,
    directory: async () => (await readWholeDirectory(sample.table, { timeoutMs: TIMEOUT_MS }))?.directory,
    clock: sample.clock,
    random: () => 0.5,
  };
  for (let done = 0; done <= parameters; done += CHANGED_MAX) await syncLimits(deps);
  const calls = store.calls.page;
  const run = await measured(sample, async () => {
    const { refused, left } = await syncLimits(deps);
    if (refused.length + left > 0)
      throw new Error(`sample parameters: ${refused.length} refused, ${left} left`);
  });
  return { ...run, calls: store.calls.page - calls };
}

/** The telling of owners. */
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
      alerts: {
        note: async () => {
          sample.counted.writes += 1;
        },
      },
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
