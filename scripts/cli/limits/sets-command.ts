import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { readSetHistory } from './live-set.ts';
import { type OpenLimits, openLimits, withOpenLimits } from './open-limits.ts';
import { NOTHING_LIVE } from './set-text.ts';

const COUNT = 20;
/** One read each. */
const COUNT_MAX = 500;

const HELP = `tollgate limits sets [flags]

The live set of limits and those before it, newest first: when, by whom, from where and why. A set that was replaced is
kept for 90 days.

  --count <n>          how many at most (default: ${COUNT})
${LEDGER_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const setsCommandOn = (open: OpenLimits): Command => ({
  name: 'limits sets',
  summary: 'What was live before? The last sets of limits, newest first',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { count: 'text', ...LEDGER_FLAGS });
    const count = values.count === undefined ? COUNT : readWhole('count', values.count, 1, COUNT_MAX);
    const sets = await withOpenLimits(open, values, io, (limits) => readSetHistory(limits.table, count));
    if (values.json) io.out(`${JSON.stringify({ sets })}\n`);
    else if (sets.length === 0) io.out(`${NOTHING_LIVE}\n`);
    else {
      const titles = ['edit', 'set', 'at', 'by', 'from', 'why'].map((title) => ({ title }));
      const rows = sets.map((each) => [
        String(each.edit),
        each.set,
        each.at,
        ...[each.actor, each.source, each.why].map(printable),
      ]);
      io.out(table(titles, rows, io.columns, paintWhen(io.colours).dim));
    }
    return EXIT.ok;
  },
});

export const setsCommand: Command = setsCommandOn(openLimits);
