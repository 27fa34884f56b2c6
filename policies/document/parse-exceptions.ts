import type { BreakGlass } from '../limits/break-glass.ts';
import { DAY_MS } from '../limits/calendar.ts';
import type { Freeze } from '../limits/limit.ts';
import { withoutAbsent } from '../without-absent.ts';
import { checkOrder, edge, gitlabId, LIMIT_TEXTS, readName, readZone, text, word } from './parse-entry.ts';
import { readSubject } from './parse-limit.ts';
import type { Reading } from './reading.ts';

/** Each job is compared with every one. A company that needs more should change its limits. */
const BREAK_GLASSES_MAX = 200;
/** Longer is a limit that is too low. */
const BREAK_GLASS_DAYS_MAX = 7;
const JOBS_MAX = 10_000;
const USERS_MAX = 100;
const REASON_CHARACTERS_MAX = 200;
const FREEZES_MAX = 10_000;

const AUTHOR = { by: text('who did it, in a text', REASON_CHARACTERS_MAX), byUser: gitlabId('user') };

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
      jobs: (each: Reading) => each.integer('how many jobs it lets in', 1, JOBS_MAX),
      from: edge('start', zone),
      until: edge('end', zone),
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
  const { on: subject, from: fromMs, until: untilMs, users = [], per = 'once', ...rest } = found;
  if (!/^(?:instance$|group\/|project\/)/.test(subject))
    reading.at('on').expected('instance, {group: 101} or {project: 7}: whose jobs it lets in');
  if (users.length === 0 && !found.protected)
    reading.refuse('lets everybody in; name users, or protected: true, or both');
  checkOrder(reading, fromMs, untilMs);
  if (untilMs - fromMs > BREAK_GLASS_DAYS_MAX * DAY_MS)
    reading
      .at('until')
      .expected(`at most ${BREAK_GLASS_DAYS_MAX} days after from; a limit that is too low is raised`);
  return {
    ...rest,
    ...{ subject, fromMs, untilMs, per },
    users: new Set(users),
    protected: found.protected === true,
    ...(zone !== 'UTC' && { zone }),
  };
}

function readReviewed(reading: Reading): BreakGlass['reviewed'] {
  const found = reading.fields(
    { by: text('who looked at it, in a text', REASON_CHARACTERS_MAX), at: edge('start') },
    { byUser: gitlabId('user'), note: text('what was found, in a text', 500) },
  );
  if (found === undefined) return undefined;
  const { at: atMs, ...rest } = found;
  return { ...rest, atMs };
}

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
      from: edge('start', zone),
      until: edge('end', zone),
      owner: LIMIT_TEXTS.owner,
      ...AUTHOR,
    },
    ['zone'],
  );
  if (found === undefined || zone === undefined) return undefined;
  const { on: subject, from: fromMs, until: untilMs, ...rest } = found;
  checkOrder(reading, fromMs, untilMs);
  const id = `freeze-${Number(reading.path.at(-1)) + 1}`;
  return { id, ...rest, subject, zone, ...withoutAbsent({ fromMs, untilMs }) };
}
