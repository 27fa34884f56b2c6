/** Grants, freezes, break-glasses and rollouts in the document. */
import { readInstant } from '../../../../policies/document/values.ts';
import { rolledOutSubject, writtenSecond } from '../rollout-times.ts';
import type { Entry, LimitsDraft } from './draft.ts';
import { findLimit } from './edit-limit.ts';
import type { BreakGlassEdit, FreezeSubject, GiveGrant, LimitEdit } from './limit-edit.ts';
import { SUBJECTS_EXPECTED, subjectOf, writtenSubject } from './subject-text.ts';

type Of<Kind extends LimitEdit['kind']> = Extract<LimitEdit, { readonly kind: Kind }>;

export function giveGrant(draft: LimitsDraft, edit: GiveGrant): undefined {
  const { subject, limit, amount, from, until, reason, ticket } = edit;
  const on = onOf(draft, subject);
  if (on === undefined) return undefined;
  if (findLimit(draft, subject, limit) === undefined)
    return draft.refuse('limit', `'${limit}'; ${subject} has no such limit of its own to add to`);
  const { asked, actor, userId, newId } = draft.context;
  const id = asked !== undefined && asked.edits === undefined ? asked.id : `g-${newId()}`;
  return draft.add('grants', {
    ...on,
    id,
    limit,
    amount,
    from,
    until,
    reason,
    ...(ticket !== undefined && { ticket }),
    ...writtenBy(draft),
    ...(asked !== undefined && {
      requested_by: asked.requestedBy,
      ...(asked.requestedByUser !== undefined && { requested_by_user: asked.requestedByUser }),
      approved_by: actor,
      ...(userId !== undefined && { approved_by_user: userId }),
    }),
  });
}

const writtenId = ({ id }: Entry): string | undefined => (typeof id === 'string' ? id : undefined);
/** Those without an id are called by their place: `grant-3`. */
const grantIdOf = (grant: Entry, index: number): string =>
  typeof grant.id === 'string' ? grant.id : `grant-${index + 1}`;

export function revokeGrant(draft: LimitsDraft, { grant: id }: Of<'revoke'>): undefined {
  const grant =
    draft.find('grants', id, writtenId) ??
    draft.list('grants').find((each, index) => grantIdOf(each, index) === id);
  if (grant === undefined) return draft.refuse('grant', `'${id}'; no grant has this id`);
  return end(draft, 'grants', grant, 'grant');
}

export function editFreeze(
  draft: LimitsDraft,
  { subject, from, until, reason, owner }: FreezeSubject,
): undefined {
  const on = onOf(draft, subject);
  if (on === undefined) return undefined;
  const { newId } = draft.context;
  return draft.add('freezes', {
    ...on,
    id: `f-${newId()}`,
    from: from ?? writtenNow(draft),
    ...(until !== undefined && { until }),
    ...zoneWritten(draft, subject),
    reason,
    ...(owner !== undefined && { owner }),
    ...writtenBy(draft),
  });
}

export function unfreeze(draft: LimitsDraft, { freeze: id }: Of<'unfreeze'>): undefined {
  const found =
    draft.find('freezes', id, writtenId) ??
    draft.list('freezes').find((each, index) => (each.id ?? `freeze-${index + 1}`) === id);
  return found === undefined
    ? draft.refuse('freeze', `'${id}'; no freeze has this id`)
    : draft.put('freezes', found, undefined);
}

export function editBreakGlass(draft: LimitsDraft, edit: BreakGlassEdit): undefined {
  const { subject, users, jobs, per, from, until, reason, ticket } = edit;
  const on = onOf(draft, subject);
  if (on === undefined) return undefined;
  const { newId } = draft.context;
  return draft.add('breakglass', {
    ...on,
    id: `b-${newId()}`,
    ...(users !== undefined && { users }),
    ...(edit.protected === true && { protected: true }),
    jobs,
    ...(per !== undefined && { per }),
    from: from ?? writtenNow(draft),
    until,
    ...zoneWritten(draft, subject),
    reason,
    ...(ticket !== undefined && { ticket }),
    ...writtenBy(draft),
  });
}

export function endBreakGlass(draft: LimitsDraft, { breakglass: id }: Of<'end-breakglass'>): undefined {
  const glass = draft.find('breakglass', id, writtenId);
  return glass === undefined
    ? draft.refuse('breakglass', `'${id}'; no break-glass has this id`)
    : end(draft, 'breakglass', glass, 'breakglass');
}

export function reviewBreakGlass(
  draft: LimitsDraft,
  { breakglass: id, note }: Of<'review-breakglass'>,
): undefined {
  const glass = draft.find('breakglass', id, writtenId);
  if (glass === undefined) return draft.refuse('breakglass', `'${id}'; no break-glass has this id`);
  const reviewed = { ...writtenBy(draft), at: writtenNow(draft), note };
  return draft.put('breakglass', glass, { ...glass, reviewed });
}

export function rollOut(draft: LimitsDraft, edit: Of<'rollout'>): undefined {
  const { subject, cost, capacity, reportedMs } = edit;
  const [kind = '', id] = subject.split('/');
  if (!/^(?:instance|(?:group|project)\/[1-9]\d{0,14})$/.test(subject))
    return draft.refuse('subject', `'${subject}'; expected instance, group/<id> or project/<id>`);
  const entry = draft.find('rollout', subject, rolledOutSubject);
  const next: Record<string, unknown> = {
    ...(entry ?? { [kind]: kind === 'instance' ? true : Number(id) }),
  };
  const put = (field: string, value: unknown): void => {
    if (value === null) delete next[field];
    else next[field] = value;
  };
  for (const [ruleClass, mode] of Object.entries({ cost, capacity })) {
    if (mode !== undefined) put(ruleClass, mode);
  }
  if (reportedMs !== undefined) put('reported', reportedMs && writtenSecond(reportedMs));
  const says = ['cost', 'capacity', 'reported'].some((field) => next[field] !== undefined);
  if (entry !== undefined) return draft.put('rollout', entry, says ? next : undefined);
  return says ? draft.add('rollout', next) : undefined;
}

/** Ends a started entry now and keeps it for reports; an entry that has not started is removed. */
function end(draft: LimitsDraft, list: string, entry: Entry, field: string): undefined {
  const { nowMs, writtenAtMs = nowMs } = draft.context;
  const zone = writtenZone(draft, list, entry);
  const edge = (at: unknown, which: 'start' | 'end'): number =>
    (typeof at === 'string' ? readInstant(at, which, zone) : undefined) ?? Number.NaN;
  if (edge(entry.until, 'end') <= nowMs) return draft.refuse(field, `'${entry.id}'; it is over already`);
  const endMs = Math.floor(writtenAtMs / 1000) * 1000;
  return draft.put(
    list,
    entry,
    edge(entry.from, 'start') < endMs ? { ...entry, until: writtenSecond(endMs) } : undefined,
  );
}

/** Days are meant where the limits of the subject count theirs. */
const zoneWritten = ({ context }: LimitsDraft, subject: string): Entry => {
  const zone = context.zoneOf?.(subject) ?? 'UTC';
  return zone === 'UTC' ? {} : { zone };
};

/** A grant's days are its limit's; everything else names its zone itself. */
function writtenZone(draft: LimitsDraft, list: string, entry: Entry): string {
  const of = list === 'grants' ? findLimit(draft, subjectOf(entry.on) ?? '', String(entry.limit)) : entry;
  return typeof of?.zone === 'string' ? of.zone : 'UTC';
}

const writtenNow = ({ context: { nowMs, writtenAtMs = nowMs } }: LimitsDraft): string =>
  writtenSecond(writtenAtMs);

/** The author: name for people, id for checks. */
const writtenBy = ({ context: { actor, userId } }: LimitsDraft): Entry => ({
  by: actor,
  ...(userId !== undefined && { by_user: userId }),
});

function onOf(draft: LimitsDraft, subject: string): Entry | undefined {
  const on = writtenSubject(subject);
  if (on !== undefined && 'on' in on && subjectOf(on.on) === subject) return on;
  draft.refuse(
    'subject',
    `'${subject}'; expected one of its own, such as ${SUBJECTS_EXPECTED.split(', personal')[0]}`,
  );
  return undefined;
}
