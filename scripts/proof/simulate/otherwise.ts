/** What is otherwise than expected about a record or a counter, in words; undefined: nothing. */
import type { JobRecord, RecordClaim } from '../../../functions/core/ledger/index.ts';
import { counterName } from '../../../policies/claim.ts';
import type { ExpectedJob } from './expected/books.ts';
import type { CounterSums } from './expected/verdict.ts';

export function otherFacts(
  { jobId, facts, unchecked, decidedAtMs }: JobRecord,
  expected: ExpectedJob,
): string | undefined {
  const { ask, uncheckedBy } = expected;
  const found = [facts.microsPerMinute, facts.groupIds, decidedAtMs, unchecked ?? 'checked'].join(' ');
  const wanted = [ask.microsPerMinute, ask.groupIds, ask.atMs, uncheckedBy ?? 'checked'].join(' ');
  return found === wanted ? undefined : `job ${jobId} is decided on ${found}, expected ${wanted}`;
}

export function otherClaims(
  { jobId, claims }: JobRecord,
  { ask, ...expected }: ExpectedJob,
): string | undefined {
  const names = claims.map(({ counter }) => counterName(counter));
  if (names.length !== ask.claims.length)
    return `job ${jobId} counts on ${names}, expected ${ask.claims.map(({ counter }) => counter)}`;
  for (const [index, { counter, unit }] of ask.claims.entries()) {
    // Nearly always in the same order, as both go from the root down.
    const claim = claims[names[index] === counter ? index : names.indexOf(counter)];
    if (claim === undefined) return `job ${jobId} counts on ${names}, expected ${counter}`;
    const wanted = {
      unit,
      held: expected.held[index] ?? 0,
      counted: expected.counted[index] ?? 0,
      fitted: expected.fitted[index] ?? false,
      checked: expected.checked[index] ?? false,
    };
    if (!isSameClaim(claim, wanted))
      return `job ${jobId} counts ${JSON.stringify(claim)} on ${counter}, expected ${JSON.stringify(wanted)}`;
  }
  return undefined;
}

const isSameClaim = (claim: RecordClaim, wanted: Omit<RecordClaim, 'counter' | 'corrected'>): boolean =>
  claim.unit === wanted.unit &&
  claim.held === wanted.held &&
  claim.counted === wanted.counted &&
  claim.corrected === 0 &&
  claim.fitted === wanted.fitted &&
  claim.checked === wanted.checked;

export function otherSums(name: string, found: CounterSums, wanted: CounterSums): string | undefined {
  const isSame = SUMS.every((each) => found[each] === wanted[each]);
  return isSame ? undefined : `${name} shows ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`;
}

const SUMS = ['committed', 'fitted', 'settled', 'exempt', 'unmetered', 'bypass'] as const;
