import { withoutAbsent } from '../../../../policies/without-absent.ts';
import type { ConsoleReader } from '../../../answers/create-console-read.ts';
import type { Caller } from '../../../answers/reading/context.ts';
import type { OwnerContact } from '../problem-page.tsx';

/** Each costs the reads of a page. */
const SUBJECTS_MAX = 3;
const REACH_MAX = 5;

/** Owners of these limits and of hidden ones above, as far as visible. @throws {LedgerError} */
export async function ownerContactsOf(
  limits: readonly { readonly subject: string; readonly limit: string }[],
  read: Pick<ConsoleReader, 'subject'>,
  viewer: Caller,
): Promise<readonly OwnerContact[]> {
  const subjects = [...new Set(limits.map(({ subject }) => subject))].slice(0, SUBJECTS_MAX);
  const views = await Promise.all(subjects.map((subject) => read.subject(subject, {}, viewer)));
  const all = views.flatMap((view): OwnerContact[] => {
    if (view === undefined) return [];
    const named = new Set(limits.filter(({ subject }) => subject === view.subject).map(({ limit }) => limit));
    return [
      ...view.limits
        .filter(({ id }) => named.has(id))
        .map(({ id, owner, contact }) => reach(`${view.path} ${id}`, owner, contact)),
      ...view.limitsAbove.map(({ label, contact }) => reach(label, undefined, contact)),
    ];
  });
  return all.filter(({ owner, contact }) => (owner ?? contact) !== undefined).slice(0, REACH_MAX);
}

const reach = (of: string, owner: string | undefined, contact: string | undefined): OwnerContact => ({
  of,
  ...withoutAbsent({ owner, contact }),
});
