import type { BreakGlass } from '../limits/break-glass.ts';
import { DAY_MS } from '../limits/calendar.ts';
import {
  earlierGrants,
  type Freeze,
  type Grant,
  type Limit,
  limitLine,
  withoutDay,
} from '../limits/limit.ts';
import { readUnits } from '../unit.ts';
import { checkOrder, edge, gitlabId, LIMIT_TEXTS, readName, readZone, text, word } from './parse-entry.ts';
import { readLimitSubject, readSubject } from './parse-limit.ts';
import type { Read, Reading } from './reading.ts';

/** Each job is compared with every one. A company that needs more should change its limits. */
const BREAK_GLASSES_MAX = 200;
/** Longer is a limit that is too low. */
const BREAK_GLASS_DAYS_MAX = 7;
const JOBS_MAX = 10_000;
const USERS_MAX = 100;
const REASON_CHARACTERS_MAX = 200;
const FREEZES_MAX = 10_000;

const AUTHOR = { by: text('the author, in a text', REASON_CHARACTERS_MAX), byUser: gitlabId('user') };

export function readBreakGlasses(
  reading: Reading,
  runnerClasses: readonly string[],
): readonly BreakGlass[] | undefined {
  const what = '{on, users, jobs, from, until, reason}';
  const all = reading.unique(what, BREAK_GLASSES_MAX, 'id', (each) => readBreakGlass(each, runnerClasses));
  return all.length === 0 ? undefined : all;
}

function readBreakGlass(reading: Reading, runnerClasses: readonly string[]): BreakGlass | undefined {
  const zone = readZone(reading);
  const found = reading.fields(
    {
      on: (each) => readSubject(each, runnerClasses),
      id: readName,
      jobs: (each: Reading) => each.integer('the number of jobs it lets in', 1, JOBS_MAX),
      fromMs: edge('start', zone),
      untilMs: edge('end', zone),
      reason: text('why, in a text', REASON_CHARACTERS_MAX),
    },
    {
      users: (each: Reading) => each.each('user ids', USERS_MAX, gitlabId('user')),
      protected: (each: Reading) =>
        each.value === true ? true : each.expected('true, or nothing for jobs on any ref'),
      per: word('a period', ['hour', 'day', 'once']),
      ticket: text('a ticket', 200),
      owner: LIMIT_TEXTS.owner,
      ...AUTHOR,
      reviewed: readReviewed,
    },
    ['zone'],
  );
  if (found === undefined || zone === undefined) return undefined;
  const { on: subject, users = [], ...rest } = found;
  if (!/^(?:instance$|group\/|project\/)/.test(subject))
    reading.at('on').expected('instance, {group: 101} or {project: 7}: whose jobs it lets in');
  if (users.length === 0 && !found.protected)
    reading.refuse('lets all users in; name users, or protected: true, or both');
  checkOrder(reading, found);
  if (found.untilMs - found.fromMs > BREAK_GLASS_DAYS_MAX * DAY_MS)
    reading
      .at('until')
      .expected(`at most ${BREAK_GLASS_DAYS_MAX} days after from; a limit that is too low is raised`);
  return {
    ...{ per: 'once', ...rest, subject },
    users: new Set(users),
    protected: found.protected === true,
    ...(zone !== 'UTC' && { zone }),
  };
}

const readReviewed: Read<BreakGlass['reviewed']> = (reading) =>
  reading.fields(
    { by: text('the reviewer, in a text', REASON_CHARACTERS_MAX), atMs: edge('start') },
    { byUser: gitlabId('user'), note: text('the finding, in a text', 500) },
  );

export function readFreezes(
  reading: Reading,
  runnerClasses: readonly string[],
): ReadonlyMap<string, readonly Freeze[]> | undefined {
  const what = '{on, from, until, reason}';
  const all = reading.unique(what, FREEZES_MAX, 'id', (each) => readFreeze(each, runnerClasses));
  return all.length === 0 ? undefined : Map.groupBy(all, ({ subject }) => subject);
}

function readFreeze(reading: Reading, runnerClasses: readonly string[]): Freeze | undefined {
  const zone = readZone(reading);
  const found = reading.fields(
    {
      on: (on) => readSubject(on, runnerClasses),
      reason: text('why nothing starts, in a text', REASON_CHARACTERS_MAX),
    },
    {
      id: readName,
      fromMs: edge('start', zone),
      untilMs: edge('end', zone),
      owner: LIMIT_TEXTS.owner,
      ...AUTHOR,
    },
    ['zone'],
  );
  if (found === undefined || zone === undefined) return undefined;
  const { on: subject, ...rest } = found;
  checkOrder(reading, found);
  const id = `freeze-${Number(reading.path.at(-1)) + 1}`;
  return { id, ...rest, subject, zone };
}

const GRANTS_MAX = 100_000;
const PERSON = text('a name', 200);
const USER = gitlabId('user');
const OPTIONAL = {
  ticket: text('a ticket, e.g. FIN-123,', 200),
  id: readName,
  ...{ by: PERSON, requestedBy: PERSON, approvedBy: PERSON },
  ...{ byUser: USER, requestedByUser: USER, approvedByUser: USER },
};

/** Puts each grant on the limit it names and on those that take over from it, also if the named one is gone. */
export function withGrants(
  bySubject: ReadonlyMap<string, readonly Limit[]>,
  reading: Reading,
  runnerClasses: readonly string[],
): ReadonlyMap<string, readonly Limit[]> {
  // A limit may have thousands of grants, and each is checked against the sum: it is stored with them.
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
      const complete = granted.map((limit) => {
        const earlier = earlierGrants(limit, granted);
        return earlier.length === 0 ? limit : { ...limit, earlierGrants: earlier };
      });
      return [subject, complete];
    }),
  );
}

const limitNamed = (id: unknown, limits: readonly Limit[]): Limit | undefined =>
  limits.find((limit) => limit.id === id) ??
  (typeof id === 'string' ? limits.find((limit) => limitLine(limit) === withoutDay(id)) : undefined);

function readGrant(reading: Reading, limit: Limit | undefined): Grant | undefined {
  const found = reading.fields(
    {
      amount: (each) => limit && readAmount(each, limit),
      fromMs: edge('start', limit?.zone),
      untilMs: edge('end', limit?.zone),
      reason: text('why it is given,', 500),
    },
    OPTIONAL,
    ['on', 'limit'],
  );
  if (found !== undefined) checkOrder(reading, found);
  return found;
}

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
