import {
  dynamoRestore,
  type ExportedKind,
  type RestoreReport,
  restoreLines,
} from '../../../functions/core/export/index.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { openTableAccess, type TableAccess } from '../ledger/open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { type Confirmation, confirmOnTerminal } from '../truth/confirm.ts';
import { exportedLines } from './exported-files.ts';

const HELP = `tollgate restore <folder> [flags]

Reads decisions back into a table that was restored from an older backup: records of jobs with their reasons, corrections,
closings, and limits with their change log, grants and requests. Each goes where the table has none
or an older one, so running it twice changes nothing. Counters follow by "tollgate rebuild --repair", usage by "tollgate rebuild --usage".

The folder is a copy of the bucket that the deployment prints as ExportBucketName, as "aws s3 sync" makes it.

  --since <time>       what was written from then on, as a time ago (2d), a day or an instant   (default: all of it)
  --until <time>       and before then: leaves out what damaged the table                       (default: now)
                       ${SPAN_HELP}
  --yes                does not ask
${LEDGER_FLAGS_HELP}
  --json               the report as one JSON object

Exit codes: 0 read back, 1 the table does not answer or a file is broken, 2 lines were passed over, 3 wrong usage`;

interface RestoreCommandDeps {
  /** Tests open tables of their own. */
  readonly open: (...args: Parameters<typeof openTableAccess>) => Promise<TableAccess>;
  readonly confirm: Confirmation;
}

/** Nobody's job waits for it. */
const ATTEMPTS_MAX = 4;

export const restoreCommandOn = (deps: RestoreCommandDeps): Command => ({
  name: 'restore',
  summary: 'Reads decisions and limits back into a table that was restored from an older backup',
  help: HELP,
  run: (args, io) => restore(args, io, deps),
});

export const restoreCommand: Command = restoreCommandOn({
  open: openTableAccess,
  confirm: confirmOnTerminal,
});

async function restore(args: readonly string[], io: TerminalIo, deps: RestoreCommandDeps): Promise<ExitCode> {
  const flags = { since: 'text', until: 'text', yes: 'switch', ...LEDGER_FLAGS } as const;
  const { values, words } = readFlags(args, flags, { max: 1, what: 'one folder' });
  const [folder] = words;
  if (folder === undefined) throw new UsageError('a folder is missing: expected a copy of the export');
  const nowMs = io.nowMs();
  const { sinceMs, untilMs } = readSpan(values.since ?? EVER, values.until, nowMs, rollupZone(io));
  const opened = await deps.open(values, io, ATTEMPTS_MAX);
  try {
    if (!values.yes) {
      const agreed = await deps.confirm(`Read ${folder} back into ${opened.description}?`);
      if (agreed === undefined)
        throw new UsageError('nobody can be asked here; add --yes to write without asking');
      if (!agreed) {
        io.err('Nothing was written.\n');
        return EXIT.wouldReject;
      }
    }
    const report = await restoreLines(exportedLines(folder), {
      restore: dynamoRestore(opened),
      instance: opened.instance,
      nowMs,
      sinceMs,
      untilMs,
    });
    io.out(values.json ? `${JSON.stringify({ ledger: opened.description, ...report })}\n` : textOf(report));
    return report.passedOver > 0 ? EXIT.wouldReject : EXIT.ok;
  } finally {
    await opened.close();
  }
}

/** Longer ago than any export. */
const EVER = '520w';

const WORDS: Readonly<Record<ExportedKind, string>> = {
  record: 'job records',
  entry: 'corrections',
  closing: 'closings',
  limits: 'items of limits, their log and requests',
};

function textOf({ restored, kept, leftOut, passedOver }: RestoreReport): string {
  const kinds = Object.entries(WORDS) as [ExportedKind, string][];
  const lines = kinds.map(([kind, words]) => `${shadowCount(restored[kind])} ${words} read back`);
  const newer = `${shadowCount(passedOver)} lines passed over: of another GitLab, of a newer Tollgate, or none of an export`;
  return `${lines.join('\n')}
${shadowCount(kept)} were there already
${shadowCount(leftOut)} left out: of another time, or expired
${passedOver === 0 ? '' : `${newer}\n`}Now "tollgate rebuild --repair" and "tollgate rebuild --usage" make counters and usage follow.
`;
}
