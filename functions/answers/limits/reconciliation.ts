import { instantText } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { RecountOutcome } from '../../core/ledger/checkpoints.ts';
import type { UsageLook } from '../../core/ledger/recount-round.ts';
import { type Caller, placesFor, type ReadContext } from '../reading/context.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import type { Reconciliation } from './budgets-model.ts';

/** The recount is nightly. */
const KNOWN_MS = 60_000;
const LISTED_MAX = 20;

export function reconciliationOf(reading: ReadContext): (caller: Caller) => Promise<Reconciliation> {
  const { recounts, clock } = reading;
  let known: { readonly atMs: number; readonly outcome: RecountOutcome | undefined } | undefined;
  const outcomeNow = async (): Promise<RecountOutcome | undefined> => {
    const nowMs = clock.nowMs();
    if (known === undefined || nowMs - known.atMs >= KNOWN_MS)
      known = { atMs: nowMs, outcome: await recounts?.read() };
    return known.outcome;
  };
  return async (caller) => {
    const [outcome, { directory, scope }] = await Promise.all([outcomeNow(), placesFor(reading, caller)]);
    if (outcome === undefined) return UNCHECKED;
    const { recountedAtMs: checkedAtMs } = outcome;
    const seen = outcome.drifting.filter(({ key }) => scope.seesAll || scope.sees(key.subject));
    const rows = seen.map(({ key: { subject, limit, period }, committed, recounted }) => ({
      ...{ subject, path: subjectLabelOf(subject, directory), limit, period },
      beyond: committed - recounted,
    }));
    const differing = rows.slice(0, LISTED_MAX);
    // Unlisted differences may belong to any group, so none is reported as correct.
    const unlisted = rows.length - differing.length + outcome.unlisted;
    const usage = scope.seesAll ? outcome.usage : undefined;
    const base = { checkedAtMs, differing, unlisted, ...withoutAbsent({ usage }) };
    const when = `checked ${instantText(checkedAtMs, reading.zone)}`;
    const count = differing.length + unlisted;
    if (count === 0) return { ...base, state: 'agrees', text: `${equalText(outcome.usage)}, ${when}.` };
    const text = `${count} ${count === 1 ? 'counter differs' : 'counters differ'} from the jobs that statements are made of, ${when}.`;
    return { ...base, state: 'differs', text };
  };
}

/** Usage that was not compared is left out. */
const equalText = (usage: UsageLook | undefined): string =>
  usage === undefined || usage.failed > 0 ? 'Counters = statements' : 'Counters = usage = statements';

const UNCHECKED: Reconciliation = {
  ...{ state: 'unchecked', differing: [], unlisted: 0 },
  text: 'Not recounted yet: the first runs of the recount do it.',
};
