import { earlierGrants, type Grant, type Limit, lineOf, withoutDay } from '../limits/limit.ts';
import { readUnits } from '../unit.ts';
import { withoutAbsent } from '../without-absent.ts';
import { checkOrder, isName, NAME_EXPECTED, readEdge, readTextField, readUser } from './parse-entry.ts';
import { readLimitSubject } from './parse-limit.ts';
import type { Reading } from './reading.ts';

/** A bound for memory. Grants that ended long ago may be taken out of the document. */
const GRANTS_MAX = 100_000;
const KEYS = [
  ...['on', 'id', 'limit', 'amount', 'from', 'until', 'reason', 'ticket'],
  ...['requested_by', 'approved_by', 'by'],
  ...['requested_by_user', 'approved_by_user', 'by_user'],
];
const PERSON_CHARACTERS_MAX = 200;
const REASON_CHARACTERS_MAX = 500;
const TICKET_CHARACTERS_MAX = 200;

/**
 * Reads `grants: [{on, limit, amount, from, until, reason, ticket}]` and puts each on the limit it names, and on those
 * that take over from it. If the named limit is gone, the grant is on the one that took over.
 */
export function withGrants(
  bySubject: ReadonlyMap<string, readonly Limit[]>,
  reading: Reading,
  runnerClasses: readonly string[],
): ReadonlyMap<string, readonly Limit[]> {
  const found = new Map<Limit, Granted>();
  for (const each of reading.list('grants', GRANTS_MAX)) {
    if (!each.object(KEYS)) continue;
    const subject = readLimitSubject(each.at('on'), runnerClasses);
    if (subject === undefined) continue;
    const limits = bySubject.get(subject) ?? [];
    const limit = limitNamed(each.at('limit').value, limits);
    if (limit === undefined) {
      refuseLimit(each.at('limit'), subject, limits);
      continue;
    }
    const grant = readGrant(each, limit);
    if (grant === undefined) continue;
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
      const granted = limits.map((limit) => withThose(limit, found));
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

/**
 * Running totals of the grants on one limit. A limit may have thousands of grants, and each is checked
 * against the sum.
 */
interface Granted {
  readonly grants: Grant[];
  amount: number;
}

function withThose(limit: Limit, found: ReadonlyMap<Limit, Granted>): Limit {
  const granted = found.get(limit);
  return granted === undefined ? limit : { ...limit, grants: granted.grants };
}

function refuseLimit(reading: Reading, subject: string, limits: readonly Limit[]): void {
  const ids = limits.map(({ id }) => id);
  if (ids.length === 0) reading.expected(`a limit of ${subject}, which has none of its own`);
  else reading.expected(`the id of a limit on ${subject}: ${ids.join(', ')}`);
}

function readGrant(reading: Reading, limit: Limit): Grant | undefined {
  const amount = readAmount(reading.at('amount'), limit);
  const fromMs = readEdge(reading.at('from'), 'start', limit.zone);
  const untilMs = readEdge(reading.at('until'), 'end', limit.zone);
  const reason = reading.at('reason').text('why it is given', isText(REASON_CHARACTERS_MAX));
  const ticket = reading.at('ticket').isThere
    ? reading.at('ticket').text('a ticket, e.g. FIN-123', isText(TICKET_CHARACTERS_MAX))
    : undefined;
  checkOrder(reading, fromMs, untilMs);
  const id = reading.at('id').isThere ? reading.at('id').text(NAME_EXPECTED, isName) : undefined;
  const [by, requestedBy, approvedBy] = ['by', 'requested_by', 'approved_by'].map((key) =>
    readTextField(reading.at(key), 'a name', PERSON_CHARACTERS_MAX),
  );
  const [byUser, requestedByUser, approvedByUser] = [
    ...['by_user', 'requested_by_user', 'approved_by_user'],
  ].map((key) => readUser(reading.at(key)));
  if (amount === undefined || fromMs === undefined || untilMs === undefined || reason === undefined)
    return undefined;
  return {
    amount,
    fromMs,
    untilMs,
    reason,
    ...withoutAbsent({ ticket, id, by, requestedBy, approvedBy, byUser, requestedByUser, approvedByUser }),
  };
}

/** `+200` and `200` are the same; less is no grant but another limit. */
function readAmount(reading: Reading, { kind, amount: base }: Limit): number | undefined {
  if (base === 'unlimited') return reading.expected('nothing: the limit is lifted as it is');
  const { value } = reading;
  const read = readUnits(typeof value === 'string' ? value.replace(/^\+/, '') : value, kind);
  if (!read.ok) return reading.expected(`${read.expected}, added to the limit`);
  return read.amount > 0 ? read.amount : reading.expected('more than nothing');
}

/** Counts in all that can ever be on top. */
const isCountable = ({ amount, graceAmount = 0, carryMax = 0 }: Limit, granted: number): boolean =>
  amount === 'unlimited' ||
  // Soft parts and graces that are shares grow along: at most as much again.
  Number.isSafeInteger(2 * (amount + granted + carryMax) + graceAmount);

const isText =
  (charactersMax: number) =>
  (text: string): boolean =>
    text.trim() !== '' && text.length <= charactersMax;
