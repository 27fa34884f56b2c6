import type { Ledger } from '../../functions/ledger/ledger.ts';
import { limitAt } from '../../policies/limits/amount-in-force.ts';
import { counterOf, type LimitSet } from '../../policies/limits/limits.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { LimitSummary } from './summary.ts';

/** Reads every limit's counter for the period that is open now. */
export async function limitFigures(
  limits: LimitSet,
  directory: Directory | undefined,
  ledger: Ledger,
  nowMs: number,
): Promise<readonly LimitSummary[]> {
  const all = [...limits.bySubject.values()].flat();
  const counters = await ledger.readCounters(all.map((limit) => counterOf(limit, nowMs)));
  return all.map((limit, index) => {
    const counter = counters[index];
    const settled = counter?.settled ?? 0;
    return {
      subject: labelOf(limit.subject, directory),
      limit: limit.id,
      unit: limit.unit,
      mode: limit.mode,
      spent: settled,
      held: (counter?.committed ?? 0) - settled,
      limitAmount: limitAt(limit, nowMs).amount,
    };
  });
}

/** `group/101` is what counters are called; people know `acme/payments`. */
function labelOf(subject: string, directory: Directory | undefined): string {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return directory?.groupById.get(Number(id))?.path ?? subject;
  if (kind === 'project') return directory?.projectById.get(Number(id))?.path ?? subject;
  return subject;
}
