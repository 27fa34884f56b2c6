/** Recipients of messages about a subject: the owner in its limits, else the owner of a group above it, else finance. */

import type { Directory } from '../../../policies/directory.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { defaultsOf, type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import { oneLine, shortened } from '../../../policies/text/plain-text.ts';

export interface Recipient {
  /** The name in the limits; subscriptions filter by it. */
  readonly owner: string;
  /** Id of the top-level group; absent for finance. Teams below different ones may have the same name. */
  readonly root?: number;
  readonly contact?: string;
}

/** Finance may change every limit, so it gets messages about limits without an owner. */
export const FINANCE: Recipient = { owner: 'finance' };

/** SNS compares filters with 256 characters at most. */
const OWNER_CHARACTERS_MAX = 100;
const CONTACT_CHARACTERS_MAX = 200;
const LABEL_CHARACTERS_MAX = 100;

export interface Ownership {
  readonly limits: LimitSet;
  readonly directory: Directory | undefined;
}

export const recipientKey = ({ owner, root }: Recipient): string =>
  JSON.stringify([root ?? null, owner.toLowerCase()]);

/** @param limit - id of the limit in question: its owner goes before the owners of the subject's other limits. */
export function findRecipient(subject: string, limit: string | undefined, ownership: Ownership): Recipient {
  const groups = groupsAround(subject, ownership.directory);
  for (const each of new Set([subject, ...groups])) {
    const named = namedOn(each, each === subject ? limit : undefined, ownership);
    if (named !== undefined) return toRecipient(named, groups);
  }
  return FINANCE;
}

export function findOwnRecipient(subject: string, ownership: Ownership): Recipient | undefined {
  const named = namedOn(subject, undefined, ownership);
  return named && toRecipient(named, groupsAround(subject, ownership.directory));
}

/** Groups around a subject, closest first. A group includes itself. Empty for subjects outside of groups. */
export function groupsAround(subject: string, directory: Directory | undefined): readonly string[] {
  const [kind, id] = subject.split('/');
  const group = kind === 'group' ? Number(id) : directory?.projectById.get(Number(id))?.groupId;
  if ((kind !== 'group' && kind !== 'project') || group === undefined) return [];
  const chain = directory?.chainById.get(group)?.map((each) => `group/${each.id}`) ?? [`group/${group}`];
  return [...chain].reverse();
}

type Named = NonNullable<ReturnType<typeof namedOn>>;

function namedOn(subject: string, limit: string | undefined, ownership: Ownership) {
  const all = limitsFor(subject, ownership).filter(({ owner }) => owner !== undefined && owner.trim() !== '');
  const named = all.find(({ id }) => id === limit) ?? all[0];
  if (named?.owner === undefined) return undefined;
  const same = all.find(({ owner, contact }) => owner === named.owner && contact !== undefined);
  return { owner: named.owner, contact: named.contact ?? same?.contact };
}

function limitsFor(subject: string, { limits, directory }: Ownership): readonly Limit[] {
  if (subject === 'personal') return limits.personalDefault;
  if (subject.startsWith('groups/')) {
    const pattern = subject.slice('groups/'.length);
    const all = limits.groupDefaults?.all ?? [];
    return all.filter(({ groups }) => groups.pattern === pattern).map((each) => each.limit);
  }
  const own = limitsOn(limits, subject);
  const group = findGroup(subject, directory);
  return group === undefined ? own : [...own, ...defaultsOf(limits, group)];
}

function toRecipient({ owner, contact }: Named, groups: readonly string[]): Recipient {
  const root = groups.at(-1);
  return {
    owner: shortened(oneLine(owner), OWNER_CHARACTERS_MAX),
    ...(root !== undefined && { root: Number(root.slice('group/'.length)) }),
    ...(contact !== undefined && { contact: shortened(oneLine(contact), CONTACT_CHARACTERS_MAX) }),
  };
}

export const findGroup = (subject: string, directory: Directory | undefined) =>
  subject.startsWith('group/') ? directory?.groupById.get(Number(subject.slice('group/'.length))) : undefined;

export function subjectLabel(subject: string, directory: Directory | undefined): string {
  if (subject === 'instance') return 'the whole GitLab';
  if (subject === 'personal') return 'every personal namespace';
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  const group = findGroup(subject, directory);
  const project = kind === 'project' ? directory?.projectById.get(Number(name)) : undefined;
  const words = group?.personal === true ? 'personal namespace' : kind.replace('-', ' ');
  return `${words} ${shortened(oneLine(group?.path ?? project?.path ?? name), LABEL_CHARACTERS_MAX)}`;
}
