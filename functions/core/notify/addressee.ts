/** Who is told about a subject: whom its limits name, else whom those above name, else finance. */

import type { Limit } from '../../../policies/limits/limit.ts';
import { defaultsOf, type LimitSet, limitsOn } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { oneLine, shortened } from '../../../policies/text/plain-text.ts';

export interface Addressee {
  /** As the limits name them; a subscription's filter asks for it. */
  readonly owner: string;
  /** Id of the top-level group; absent for finance. Teams of different ones may be called alike. */
  readonly root?: number;
  /** Where they are reached, as the limits say it. */
  readonly contact?: string;
}

/** May change every limit, and so is told where nobody is named. */
export const FINANCE: Addressee = { owner: 'finance' };

/** SNS compares filters with 256 characters at most. */
const OWNER_CHARACTERS_MAX = 100;
const CONTACT_CHARACTERS_MAX = 200;

export interface Ownership {
  readonly limits: LimitSet;
  readonly directory: Directory | undefined;
}

/** One text per addressee. */
export const addresseeKey = ({ owner, root }: Addressee): string =>
  JSON.stringify([root ?? null, owner.toLowerCase()]);

/** @param limit - id of the limit it is about: its own owner goes before the others' of the subject. */
export function addresseeOf(subject: string, limit: string | undefined, ownership: Ownership): Addressee {
  const chain = subjectChainOf(subject, ownership.directory);
  for (const each of [subject, ...chain.filter((group) => group !== subject)]) {
    const named = namedOn(each, each === subject ? limit : undefined, ownership);
    if (named !== undefined) return placed(named, chain);
  }
  return FINANCE;
}

/** Whom the limits of the subject itself name; undefined: nobody. */
export function ownAddressee(subject: string, ownership: Ownership): Addressee | undefined {
  const named = namedOn(subject, undefined, ownership);
  return named && placed(named, subjectChainOf(subject, ownership.directory));
}

/** Somebody a limit of the subject named before. */
export const formerAddressee = (
  owner: string,
  subject: string,
  { directory }: Pick<Ownership, 'directory'>,
): Addressee => placed({ owner }, subjectChainOf(subject, directory));

/** The groups a subject stands in, closest first, a group itself among them; empty for what stands in none. */
export function subjectChainOf(subject: string, directory: Directory | undefined): readonly string[] {
  const [kind, id] = subject.split('/');
  const group = kind === 'group' ? Number(id) : directory?.projectById.get(Number(id))?.groupId;
  if ((kind !== 'group' && kind !== 'project') || group === undefined) return [];
  const chain = directory?.chainById.get(group)?.map((each) => `group/${each.id}`) ?? [`group/${group}`];
  return [...chain].reverse();
}

interface Named {
  readonly owner: string;
  readonly contact?: string | undefined;
}

function namedOn(subject: string, limit: string | undefined, ownership: Ownership): Named | undefined {
  const all = limitsOf(subject, ownership).filter(({ owner }) => owner !== undefined && owner.trim() !== '');
  const named = all.find(({ id }) => id === limit) ?? all[0];
  if (named?.owner === undefined) return undefined;
  const same = all.find(({ owner, contact }) => owner === named.owner && contact !== undefined);
  return { owner: named.owner, contact: named.contact ?? same?.contact };
}

function limitsOf(subject: string, { limits, directory }: Ownership): readonly Limit[] {
  const own = limitsOn(limits, subject);
  if (subject === 'personal') return limits.personalDefault;
  if (subject.startsWith('groups/')) {
    const pattern = subject.slice('groups/'.length);
    const all = limits.groupDefaults?.all ?? [];
    return all.filter(({ groups }) => groups.pattern === pattern).map((each) => each.limit);
  }
  const group = subject.startsWith('group/')
    ? directory?.groupById.get(Number(subject.slice('group/'.length)))
    : undefined;
  return group === undefined ? own : [...own, ...defaultsOf(limits, group)];
}

function placed({ owner, contact }: Named, chain: readonly string[]): Addressee {
  const root = chain.at(-1);
  return {
    owner: shortened(oneLine(owner), OWNER_CHARACTERS_MAX),
    ...(root !== undefined && { root: Number(root.slice('group/'.length)) }),
    ...(contact !== undefined && { contact: shortened(oneLine(contact), CONTACT_CHARACTERS_MAX) }),
  };
}

/** What a person calls a subject: `group acme/payments`. */
export function subjectLabel(subject: string, directory: Directory | undefined): string {
  if (subject === 'instance') return 'the whole GitLab';
  if (subject === 'personal') return 'every personal namespace';
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  const group = kind === 'group' ? directory?.groupById.get(Number(name)) : undefined;
  const project = kind === 'project' ? directory?.projectById.get(Number(name)) : undefined;
  const words = group?.personal === true ? 'personal namespace' : kind.replace('-', ' ');
  return `${words} ${shortened(oneLine(group?.path ?? project?.path ?? name), LABEL_CHARACTERS_MAX)}`;
}

const LABEL_CHARACTERS_MAX = 100;
