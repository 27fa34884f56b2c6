/** Lists what the version before kept about limits and this one ignores. To be deleted with the release after. */

import { type Item, queryAll, SK, TimeLimit } from '../../../functions/core/store/index.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { printable } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { openTableAccess } from '../ledger/open-ledger.ts';

const HELP = `tollgate limits retired [flags]

Lists plans of limits and saved views that are left in the table. Nothing reads them any more. Import a plan's amounts from
a CSV instead (tollgate budget import --from), and bookmark the address of a view. A request that adopts a plan is like any
other: it can be approved or declined until it expires.

${LEDGER_FLAGS_HELP}

Exit codes: 0 listed, 1 the table does not answer, 3 wrong usage`;

const ATTEMPTS_MAX = 4;
const TIMEOUT_MS = 15_000;

export const retiredCommandOn = (open: typeof openTableAccess): Command => ({
  name: 'limits retired',
  summary: 'Lists plans and saved views that are left in the table and ignored',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, LEDGER_FLAGS, { max: 0, what: 'no words' });
    const { table, instance, close } = await open(values, io, ATTEMPTS_MAX);
    try {
      const read = (partition: string): Promise<readonly Item[]> =>
        queryAll(table, { pk: `${instance}${partition}`, consistent: true }, new TimeLimit(TIMEOUT_MS));
      const plans = (await read('@limits#plans')).flatMap(planOf);
      const views = (await read('@views')).flatMap(viewsOf);
      if (values.json) io.out(`${JSON.stringify({ plans, views })}\n`);
      else io.out([...plans.map(planText), ...views.map(viewText), ''].join('\n') || 'Nothing is left.\n');
      return EXIT.ok;
    } finally {
      await close();
    }
  },
});

export const retiredCommand: Command = retiredCommandOn(openTableAccess);

type Fields = Readonly<Record<string, unknown>>;

function planOf(item: Item): readonly Fields[] {
  const plan = parsed(Buffer.from(item.b?.B ?? new Uint8Array()).toString('utf8'));
  if (!isRecord(plan) || plan.discarded === true) return [];
  const { name, from, by, request, amounts } = plan;
  return [{ name, from, by, limits: Array.isArray(amounts) ? amounts.length : 0, request }];
}

const viewsOf = (item: Item): readonly Fields[] => {
  const views = parsed(item.vi?.S ?? '[]');
  const owner = item[SK]?.S;
  return Array.isArray(views)
    ? views.filter(isRecord).map(({ name, query }) => ({ owner, name, address: `/budgets?${String(query)}` }))
    : [];
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const planText = ({ name, from, by, limits, request }: Fields): string =>
  printable(
    `plan "${name}" from ${from} by ${by}: ${limits} limits${request === undefined ? '' : `, adopted by request ${request}`}`,
  );

const viewText = ({ owner, name, address }: Fields): string =>
  printable(`view "${name}" of ${owner}: ${address}`);
