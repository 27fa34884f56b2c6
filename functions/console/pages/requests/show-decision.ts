import type { RequestRow } from '../../../answers/requests/model.ts';
import type { RequestedEdits } from '../../../core/limits/desk/limit-request.ts';
import { type PageContext, type PagesDeps, send, tellingOf } from '../pages-deps.ts';
import { countedFor } from '../parts/counted-for.ts';
import type { Values } from '../parts/form-field.tsx';
import { unknownPlace } from '../problem-page.tsx';
import { decidePage } from './decide-page.tsx';

const CHANGED = {
  outcome: 'invalid',
  problems: [{ path: [], message: 'was changed meanwhile: decline it, and have it asked for again' }],
} as const;

async function editsOf(row: RequestRow, { desk }: PagesDeps): Promise<RequestedEdits> {
  if (row.edit !== undefined) return (await desk.requested(row.id)) ?? { edits: [], stale: true };
  const { subject, limit, amount, from, until, reason, ticket } = row;
  const grant = { kind: 'grant', subject, limit, amount, from, until, reason } as const;
  return { edits: [{ ...grant, ...(ticket !== undefined && { ticket }) }], stale: false };
}

/** The same preview as of an edit that gives the grant: approving it is one. */
export async function showDecision(
  c: PageContext,
  deps: PagesDeps,
  row: RequestRow,
  values: Values,
): Promise<Response> {
  const { user } = c.var;
  const requested = await editsOf(row, deps);
  const note = values.note ?? '';
  if (requested.stale) return send(c, decidePage(user, { row, preview: CHANGED, note }, tellingOf(deps)));
  const { edits } = requested;
  const base = (await deps.desk.live())?.pointer.set;
  const preview = await deps.read.preview(edits, base, user);
  if (preview.outcome === 'unknown_subject') return send(c, unknownPlace(user), 404);
  // The decision itself settles whose name stands on the grant.
  const shown =
    preview.outcome === 'valid'
      ? { ...preview, rows: preview.rows.filter(({ field }) => field !== 'by' && !field.endsWith('by_user')) }
      : preview;
  const exact = await countedFor(deps, edits, base, values, user);
  return send(c, decidePage(user, { row, preview: shown, exact, note }, tellingOf(deps)));
}
