import { readWholeDirectory } from '../../../functions/core/directory/index.ts';
import { type LedgerClock, silentLog, systemClock } from '../../../functions/core/environment/index.ts';
import { placeBy, rebuildUsage, type UsageRebuild } from '../../../functions/core/usage/index.ts';
import { ENV_ROLLUP_ZONE } from '../../../functions/names.ts';
import { isZone } from '../../../policies/limits/calendar.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import type { LedgerFlags } from '../ledger/ledger-flags.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { progressOf, watched } from './progress.ts';

interface UsageFlags extends LedgerFlags {
  readonly zone?: string | undefined;
  readonly json?: boolean | undefined;
}

/** No job waits for it. */
const TIMEOUT_MS = 15_000;

/** Counts every record into usage once more. Safe at any time, also while the stream is read: both go the same way. */
export async function rebuildAllUsage(
  openToRepair: OpenLedger,
  flags: UsageFlags,
  io: TerminalIo,
): Promise<ExitCode> {
  const zone = flags.zone ?? (io.env[ENV_ROLLUP_ZONE] || 'UTC');
  if (!isZone(zone)) throw new UsageError(`--zone "${zone}": expected a time zone like Europe/Berlin or UTC`);
  const opened = await openToRepair(flags, io);
  try {
    const { usage, directory: groups } = opened;
    if (usage === undefined) throw new Error(`${opened.description} keeps no usage`);
    const directory = groups && (await readWholeDirectory(groups, { timeoutMs: TIMEOUT_MS }))?.directory;
    const clock: LedgerClock = { ...systemClock, nowMs: io.nowMs };
    const rebuilt = await rebuildUsage(watched(opened.store, progressOf('items counted', io)).scan(), {
      store: usage,
      clock,
      random: Math.random,
      placeOf: placeBy(directory, zone),
      log: silentLog,
    });
    io.out(flags.json ? `${JSON.stringify({ ledger: opened.description, ...rebuilt })}\n` : textOf(rebuilt));
    return rebuilt.failed > 0 ? EXIT.wouldReject : EXIT.ok;
  } finally {
    await opened.close();
  }
}

function textOf({ records, changed, failed, passedOver }: UsageRebuild): string {
  const mended =
    changed === 0 ? 'Nothing was missing.' : `${shadowCount(changed)} jobs were missing and are counted now.`;
  const left = failed === 0 ? '' : `${shadowCount(failed)} could not be counted: run it again.\n`;
  const newer =
    passedOver === 0
      ? ''
      : `${shadowCount(passedOver)} items were written by a newer Tollgate and passed over.\n`;
  return `${mended}\n${shadowCount(records)} job records looked at\n${left}${newer}`;
}
