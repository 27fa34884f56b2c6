import { limitsOn } from '../../../policies/limits/limits.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';
import type { RecountOutcome } from '../../core/ledger/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { Reconciliation } from './model.ts';

/** Every page asks; the recount is the night's. */
const KNOWN_MS = 60_000;
const LISTED_MAX = 20;

/** @throws {LedgerError} */
export function reconciliationOf(reading: ReadContext): (viewer: Viewer) => Promise<Reconciliation> {
  const { recounts, clock } = reading;
  let known: { readonly atMs: number; readonly outcome: RecountOutcome | undefined } | undefined;
  const outcomeNow = async (): Promise<RecountOutcome | undefined> => {
    const nowMs = clock.nowMs();
    if (known === undefined || nowMs - known.atMs >= KNOWN_MS)
      known = { atMs: nowMs, outcome: await recounts?.read() };
    return known.outcome;
  };
  return async (viewer) => {
    const [outcome, { directory } = NOWHERE] = await Promise.all([outcomeNow(), reading.places()]);
    if (outcome === undefined) return UNCHECKED;
    const { recountedAtMs: checkedAtMs } = outcome;
    const scope = scopeOf(viewer.roles, directory);
    const seen = outcome.drifting.filter(({ key }) => scope.seesAll || scope.sees(key.subject));
    const rows = seen.map(({ key: { subject, limit, period }, committed, recounted }) => ({
      ...{ subject, path: subjectLabelOf(subject, directory), limit, period },
      beyond: committed - recounted,
    }));
    const differing = rows.slice(0, LISTED_MAX);
    // What is not listed may be anybody's: nobody is told that all is well.
    const unlisted = rows.length - differing.length + outcome.unlisted;
    const when = `checked ${instantText(checkedAtMs, reading.zone)}`;
    const [first] = differing;
    if (first === undefined && unlisted === 0)
      return { state: 'agrees', checkedAtMs, differing, unlisted, text: `Counters = statements, ${when}.` };
    const count = differing.length + unlisted;
    const text = `${count} ${count === 1 ? 'counter differs' : 'counters differ'} from the jobs that statements are made of, ${when}.`;
    const example = first === undefined ? '' : ` ${await exampleText(first)}`;
    return { state: 'differs', checkedAtMs, differing, unlisted, text: `${text}${example}` };
  };

  async function exampleText(row: Reconciliation['differing'][number]): Promise<string> {
    const { limits } = await reading.limits();
    const unit = limitsOn(limits, row.subject).find(({ id }) => id === row.limit)?.unit;
    const beyond = Math.abs(row.beyond);
    const amount =
      unit === undefined ? '' : ` ${amountText(beyond, unit, reading.policy.currency, 'nearest')}`;
    return `${row.path}, ${row.limit} ${row.period}: the counter has${amount} ${row.beyond > 0 ? 'more' : 'less'} than its jobs make.`;
  }
}

const UNCHECKED: Reconciliation = {
  ...{ state: 'unchecked', differing: [], unlisted: 0 },
  text: 'Not recounted yet: that happens every week.',
};
