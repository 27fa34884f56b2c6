import { type DocumentProblem, isRecord } from '../../../../policies/document/reading.ts';
import type { LimitsDocument } from '../limit-set.ts';
import { type EditContext, LimitsDraft } from './draft.ts';
import {
  editBreakGlass,
  editFreeze,
  endBreakGlass,
  giveGrant,
  reviewBreakGlass,
  revokeGrant,
  rollOut,
  unfreeze,
} from './edit-exceptions.ts';
import { removeLimit, setLimit } from './edit-limit.ts';
import type { LimitEdit } from './limit-edit.ts';
import { scaleLimits } from './scale-limits.ts';

/** More than any import of ours; a bound for memory. */
const EDITS_MAX = 100_000;

type Edited =
  | {
      readonly ok: true;
      readonly document: LimitsDocument;
      /** Maps a problem of the document to its edit: `edits[3].amount`. */
      readonly told: (problem: DocumentProblem) => DocumentProblem;
    }
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] };

/** The document with these edits made in their order. What they come to is not yet checked; the document given is left alone. */
export function editDocument(
  document: LimitsDocument,
  edits: readonly LimitEdit[],
  context: EditContext,
): Edited {
  if (edits.length === 0 || edits.length > EDITS_MAX)
    return {
      ok: false,
      problems: [{ path: ['edits'], message: `has ${edits.length}; expected 1 to ${EDITS_MAX}` }],
    };
  const draft = new LimitsDraft(document, context);
  for (const [index, edit] of edits.entries()) {
    draft.begin(index);
    make(edit, draft, edits.length);
  }
  return draft.problems.length > 0
    ? { ok: false, problems: draft.problems }
    : { ok: true, document: draft.document, told: (problem) => draft.told(problem) };
}

function make(edit: LimitEdit, draft: LimitsDraft, count: number): undefined {
  switch (edit.kind) {
    case 'set':
      return setLimit(draft, edit);
    case 'scale':
      return scaleLimits(draft, edit);
    case 'remove':
      return removeLimit(draft, edit);
    case 'grant':
      return giveGrant(draft, edit);
    case 'revoke':
      return revokeGrant(draft, edit);
    case 'freeze':
      return editFreeze(draft, edit);
    case 'unfreeze':
      return unfreeze(draft, edit);
    case 'breakglass':
      return editBreakGlass(draft, edit);
    case 'end-breakglass':
      return endBreakGlass(draft, edit);
    case 'review-breakglass':
      return reviewBreakGlass(draft, edit);
    case 'rollout':
      return rollOut(draft, edit);
    case 'replace':
      if (count > 1) return draft.refuse('kind', "'replace'; expected no other edits beside it");
      return isRecord(edit.document)
        ? draft.replace(edit.document)
        : draft.refuse('document', 'is no object; expected a limits document');
  }
}
