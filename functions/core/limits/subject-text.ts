/** `group/101` ↔ `{group: 101}`: subjects as limit edits name them, and as limits.yaml writes them. */

import { ancestorsOf, type Directory } from '../../../policies/directory.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { CAP_KINDS, capSubject, parseCap } from '../../../policies/limits/cap.ts';
import { LIMIT_KINDS, type LimitKind } from '../../../policies/unit.ts';

/** Names the set where none is live yet: in `If-Match`, and in the column `version` of a file. */
export const NO_SET = 'none';
const PERSONAL = 'personal';
const PATTERN_PREFIX = 'groups/';

export type LimitList = 'limits' | 'personal_default' | 'group_defaults';

export const limitListOf = (subject: string): LimitList =>
  subject === PERSONAL
    ? 'personal_default'
    : subject.startsWith(PATTERN_PREFIX)
      ? 'group_defaults'
      : 'limits';

/** Returns the fields that name the subject in an entry. Undefined for an invalid subject. */
export function writtenSubject(subject: string): Readonly<Record<string, unknown>> | undefined {
  if (subject === PERSONAL) return {};
  if (subject === 'instance') return { on: 'instance' };
  if (subject.startsWith(PATTERN_PREFIX) && subject.length > PATTERN_PREFIX.length)
    return { groups: subject.slice(PATTERN_PREFIX.length) };
  const cap = parseCap(subject);
  if (cap !== undefined) return cap.name === undefined ? { on: writtenCap(cap) } : undefined;
  const [kind = '', name = '', ...more] = subject.split('/');
  if (more.length > 0 || name === '') return undefined;
  if (kind === 'runner-class') return { on: { runner_class: name } };
  if (!['group', 'project', 'runner', 'user'].includes(kind) || !/^[1-9]\d{0,15}$/.test(name))
    return undefined;
  return { on: { [kind]: Number(name) } };
}

function writtenCap({ place, kind }: { readonly place: string; readonly kind: string }) {
  const [of = '', id] = place.split('/');
  return { each: kind, ...(id !== undefined && { [of]: Number(id) }) };
}

/** The other way, of `on`; undefined: it is none. */
export function subjectOf(on: unknown): string | undefined {
  if (on === 'instance') return 'instance';
  if (!isRecord(on)) return undefined;
  const { each, ...place } = on;
  const [[key, name] = []] = Object.entries(place);
  const kind = CAP_KINDS.find((one) => one === each);
  if (kind !== undefined) return capSubject(key === undefined ? 'instance' : `${key}/${String(name)}`, kind);
  return key === undefined ? undefined : `${key.replace('_', '-')}/${String(name)}`;
}

export function subjectOfEntry(
  list: LimitList,
  entry: Readonly<Record<string, unknown>>,
): string | undefined {
  if (list === 'limits') return subjectOf(entry.on);
  if (list === 'personal_default') return PERSONAL;
  return typeof entry.groups === 'string' ? `${PATTERN_PREFIX}${entry.groups}` : undefined;
}

export const SUBJECTS_EXPECTED =
  'instance, group/101, project/7, runner-class/large, runner/41, user/5, personal, groups/acme/team-* or, for each pipeline of a place, group/101/each/pipeline';

/** The value of a field as limits.yaml has it: the amount that is carried over stands below `max`. */
export const writtenField = (name: string, value: unknown): unknown =>
  name === 'carry' && value !== null && value !== undefined ? { max: value } : value;

export const readField = (name: string, value: unknown): unknown =>
  name === 'carry' && isRecord(value) ? value.max : value;

/** Returns the groups above a group or project, root first. Empty if it is unknown. */
export const groupsAbove = (subject: string, directory: Directory | undefined): readonly string[] =>
  (directory === undefined ? [] : ancestorsOf(subject, directory))
    .map(({ id }) => `group/${id}`)
    .filter((group) => group !== subject);

/** The kind of an entry: the name of its amount. */
export const kindOf = (entry: Readonly<Record<string, unknown>>): LimitKind | undefined =>
  LIMIT_KINDS.find((kind) => (entry[kind] ?? undefined) !== undefined);

export const madeId = (kind: string, per: string): string => `${kind}-${per === '' ? 'now' : per}`;

export const idOf = (entry: Readonly<Record<string, unknown>>): string =>
  typeof entry.id === 'string' ? entry.id : madeId(kindOf(entry) ?? '', String(entry.per ?? ''));
