import { earlierGrants, type Grant, type Limit, lineOf, withoutDay } from '../limits/limit.ts';
import { readUnits } from '../unit.ts';
import { checkOrder, edge, gitlabId, readName, text } from './parse-entry.ts';
import { readLimitSubject } from './parse-limit.ts';
import type { Reading } from './reading.ts';

const GRANTS_MAX = 100_000;
const PERSON = text('a name', 200);
const USER = gitlabId('user');
const OPTIONAL = {
  ticket: text('a ticket, e.g. FIN-123,', 200),
  id: readName,
  ...{ by: PERSON, requestedBy: PERSON, approvedBy: PERSON },
  ...{ byUser: USER, requestedByUser: USER, approvedByUser: USER },
};

/**
 * Reads `grants: [{on, limit, amount, from, until, reason, ticket}]` and puts each on the limit it names, and on those
 * that take over from it. If the named limit is gone, the grant is on the one that took over.
 */
export function withGrants(
  bySubject: ReadonlyMap<string, readonly Limit[]>,
  reading: Reading,
  runnerClasses: readonly string[],
): ReadonlyMap<string, readonly Limit[]> {
  // A limit may have thousands of grants, and each is checked against the sum: it is kept with them.
  const found = new Map<Limit, { readonly grants: Grant[]; amount: number }>();
  for (const each of reading.list('grants', GRANTS_MAX)) {
    const subject = readLimitSubject(each.at('on'), runnerClasses);
    const limits = bySubject.get(subject ?? '') ?? [];
    const limit = limitNamed(each.at('limit').value, limits);
    const grant = readGrant(each, limit);
    if (limit === undefined && subject !== undefined) {
      const ids = limits.map(({ id }) => id).join(', ');
      const which = `a limit of ${subject}, which has none of its own`;
      each.at('limit').expected(ids === '' ? which : `the id of a limit on ${subject}: ${ids}`);
    }
    if (limit === undefined || grant === undefined) continue;
    const granted = found.get(limit) ?? { grants: [], amount: 0 };
    granted.grants.push(grant);
    granted.amount += grant.amount;
    found.set(limit, granted);
    if (!isCountable(limit, granted.amount))
      each.at('amount').expected('less: limit and grants together are too large to count');
  }
  if (found.size === 0) return bySubject;
  return new Map(
    [...bySubject].map(([subject, limits]) => {
      const granted = limits.map((limit) => {
        const grants = found.get(limit)?.grants;
        return grants === undefined ? limit : { ...limit, grants };
      });
      return [subject, granted.map((limit) => withEarlier(limit, granted))];
    }),
  );
}

const limitNamed = (id: unknown, limits: readonly Limit[]): Limit | undefined =>
  limits.find((limit) => limit.id === id) ??
  (typeof id === 'string' ? limits.find((limit) => lineOf(limit) === withoutDay(id)) : undefined);

function withEarlier(limit: Limit, onSubject: readonly Limit[]): Limit {
  const earlier = earlierGrants(limit, onSubject);
  return earlier.length === 0 ? limit : { ...limit, earlierGrants: earlier };
}

function readGrant(reading: Reading, limit: Limit | undefined): Grant | undefined {
  const found = reading.fields(
    {
      amount: (each) => limit && readAmount(each, limit),
      from: edge('start', limit?.zone),
      until: edge('end', limit?.zone),
      reason: text('why it is given,', 500),
    },
    OPTIONAL,
    ['on', 'limit'],
  );
  if (found === undefined) return undefined;
  const { from: fromMs, until: untilMs, ...rest } = found;
  checkOrder(reading, fromMs, untilMs);
  return { ...rest, fromMs, untilMs };
}

/** `+200` and `200` are the same; less is no grant but another limit. */
function readAmount(reading: Reading, { kind, amount: base }: Limit): number | undefined {
  if (base === 'unlimited') return reading.expected('nothing: the limit is lifted as it is');
  const { value } = reading;
  const read = readUnits(typeof value === 'string' ? value.replace(/^\+/, '') : value, kind);
  if (!read.ok) return reading.expected(`${read.expected}, added to the limit`);
  return read.amount > 0 ? read.amount : reading.expected('more than nothing');
}

const isCountable = ({ amount, graceAmount = 0, carryMax = 0 }: Limit, granted: number): boolean =>
  amount === 'unlimited' ||
  // Soft parts and graces that are shares grow along: at most as much again.
  Number.isSafeInteger(2 * (amount + granted + carryMax) + graceAmount);
