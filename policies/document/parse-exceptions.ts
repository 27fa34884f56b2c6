import type { BreakGlass, BreakGlassReview } from '../limits/break-glass.ts';
import { DAY_MS } from '../limits/calendar.ts';
import type { Freeze } from '../limits/limit.ts';
import { withoutAbsent } from '../without-absent.ts';
import {
  checkOrder,
  isName,
  NAME_EXPECTED,
  neededText,
  readEdge,
  readOwner,
  readTextField,
  readUser,
  readValidity,
  readZone,
  VALIDITY_KEYS,
} from './parse-entry.ts';
import { readSubject } from './parse-limit.ts';
import type { Reading } from './reading.ts';

/** Each job is compared with every one. A company that needs more should change its limits. */
const BREAK_GLASSES_MAX = 200;
/** Longer is a limit that is too low. */
const BREAK_GLASS_DAYS_MAX = 7;
const JOBS_MAX = 10_000;
const USERS_MAX = 100;
const REASON_CHARACTERS_MAX = 200;
const TICKET_CHARACTERS_MAX = 200;
const NOTE_CHARACTERS_MAX = 500;

const PERIODS = ['hour', 'day', 'once'] as const;

/** `by` and `reviewed` are for people: who broke it, and who has looked at what was done with it. */
const KEYS = [
  ...['on', 'id', 'users', 'protected', 'jobs', 'per', 'from', 'until', 'zone'],
  ...['reason', 'ticket', 'owner', 'by', 'by_user', 'reviewed'],
];

/** Reads `breakglass: [{on, users, protected, jobs, per, from, until, zone, reason}]`; undefined: there are none. */
export function readBreakGlasses(
  reading: Reading,
  runnerClasses: readonly string[],
): readonly BreakGlass[] | undefined {
  const all: BreakGlass[] = [];
  for (const each of reading.list('{on, users, jobs, from, until, reason}', BREAK_GLASSES_MAX)) {
    const glass = each.object(KEYS) ? readBreakGlass(each, runnerClasses) : undefined;
    if (glass === undefined) continue;
    if (all.some(({ id }) => id === glass.id)) each.at('id').expected('an id that no other break-glass has');
    all.push(glass);
  }
  return all.length === 0 ? undefined : all;
}

function readBreakGlass(reading: Reading, runnerClasses: readonly string[]): BreakGlass | undefined {
  const subject = readSubject(reading.at('on'), runnerClasses);
  const fits = subject === undefined || /^(?:instance$|group\/|project\/)/.test(subject);
  if (!fits) reading.at('on').expected('instance, {group: 101} or {project: 7}: whose jobs it lets in');
  const id = reading.at('id').text(NAME_EXPECTED, isName);
  const users = reading
    .at('users')
    .list('user ids', USERS_MAX)
    .flatMap((each) => each.integer("GitLab's id of the user", 1) ?? []);
  const isProtected = reading.at('protected');
  if (isProtected.isThere && isProtected.value !== true)
    isProtected.expected('true, or nothing for jobs on any ref');
  if (users.length === 0 && !isProtected.isThere)
    reading.refuse('lets everybody in; name users, or protected: true, or both');
  const jobs = reading.at('jobs').integer('how many jobs it lets in', 1, JOBS_MAX);
  const per = reading.at('per').isThere ? reading.at('per').oneOf('a period', PERIODS) : 'once';
  const zone = readZone(reading);
  const fromMs = readEdge(reading.at('from'), 'start', zone ?? 'UTC');
  const untilMs = readEdge(reading.at('until'), 'end', zone ?? 'UTC');
  checkOrder(reading, fromMs, untilMs);
  if (fromMs !== undefined && untilMs !== undefined && untilMs - fromMs > BREAK_GLASS_DAYS_MAX * DAY_MS)
    reading
      .at('until')
      .expected(`at most ${BREAK_GLASS_DAYS_MAX} days after from; a limit that is too low is raised`);
  const reason = neededText(reading.at('reason'), 'why, in a text', REASON_CHARACTERS_MAX);
  const ticket = readTextField(reading.at('ticket'), 'a ticket', TICKET_CHARACTERS_MAX);
  const by = readTextField(reading.at('by'), 'who did it, in a text', REASON_CHARACTERS_MAX);
  const byUser = readUser(reading.at('by_user'));
  const reviewed = readReviewed(reading.at('reviewed'));
  const owner = readOwner(reading);
  if (subject === undefined || id === undefined || jobs === undefined || per === undefined) return undefined;
  if (zone === undefined) return undefined;
  if (fromMs === undefined || untilMs === undefined || reason === undefined) return undefined;
  return {
    id,
    subject,
    users: new Set(users),
    protected: isProtected.value === true,
    jobs,
    per,
    fromMs,
    untilMs,
    ...(zone !== 'UTC' && { zone }),
    reason,
    ...withoutAbsent({ owner, ticket, by, byUser, reviewed }),
  };
}

function readReviewed(reading: Reading): BreakGlassReview | undefined {
  if (!reading.isThere || !reading.object(['by', 'by_user', 'at', 'note'])) return undefined;
  const by = neededText(reading.at('by'), 'who looked at it, in a text', REASON_CHARACTERS_MAX);
  const byUser = readUser(reading.at('by_user'));
  const atMs = readEdge(reading.at('at'), 'start', 'UTC');
  const note = readTextField(reading.at('note'), 'what was found, in a text', NOTE_CHARACTERS_MAX);
  if (by === undefined || atMs === undefined) return undefined;
  return {
    by,
    atMs,
    ...(byUser !== undefined && { byUser }),
    ...(note !== undefined && { note }),
  };
}

/** A bound for memory; those that are over may be taken out of the document. */
const FREEZES_MAX = 10_000;

/** `by`: who did it, for people; `by_user`: the same by id, so that they may undo it. */
const FREEZE_KEYS = ['on', 'id', ...VALIDITY_KEYS, 'zone', 'reason', 'owner', 'by', 'by_user'] as const;

/** Reads `freezes: [{on, from, until, reason, owner}]`, by subject; undefined: there are none. */
export function readFreezes(
  reading: Reading,
  runnerClasses: readonly string[],
): ReadonlyMap<string, readonly Freeze[]> | undefined {
  const bySubject = new Map<string, Freeze[]>();
  const ids = new Set<string>();
  for (const [index, each] of reading.list('{on, from, until, reason}', FREEZES_MAX).entries()) {
    if (!each.object(FREEZE_KEYS)) continue;
    const freeze = readFreeze(each, `freeze-${index + 1}`, runnerClasses);
    if (freeze === undefined) continue;
    if (ids.has(freeze.id)) each.at('id').expected('an id that no other freeze has');
    ids.add(freeze.id);
    bySubject.set(freeze.subject, [...(bySubject.get(freeze.subject) ?? []), freeze]);
  }
  return bySubject.size === 0 ? undefined : bySubject;
}

function readFreeze(reading: Reading, ordinal: string, runnerClasses: readonly string[]): Freeze | undefined {
  const subject = readSubject(reading.at('on'), runnerClasses);
  const id = reading.at('id').isThere ? reading.at('id').text(NAME_EXPECTED, isName) : ordinal;
  const zone = readZone(reading);
  const validity = readValidity(reading, zone);
  const reason = neededText(reading.at('reason'), 'why nothing starts, in a text', REASON_CHARACTERS_MAX);
  const owner = readOwner(reading);
  const by = readTextField(reading.at('by'), 'who did it, in a text', REASON_CHARACTERS_MAX);
  const byUser = readUser(reading.at('by_user'));
  if (subject === undefined || id === undefined || zone === undefined || reason === undefined)
    return undefined;
  return {
    subject,
    id,
    zone,
    ...validity,
    reason,
    ...withoutAbsent({ owner, by, byUser }),
  };
}
