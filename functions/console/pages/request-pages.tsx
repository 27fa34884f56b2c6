import { readInstant } from '../../../policies/document/values.ts';
import { type Edge, edgeText } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { SubjectView } from '../../answers/groups/model.ts';
import type { BacktestAnswer, PreviewAnswer, RequestRow } from '../../answers/limits/models.ts';
import type { LimitEdit } from '../../core/limits/edit-model.ts';
import { isDecided } from '../../core/limits/requests.ts';
import { grantFormFields } from './edit/forms.ts';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PagesDeps, send } from './page.ts';
import { countJobs, SAVE_FORM } from './parts/backtest-part.tsx';
import { LOCKOUT, previewPart } from './parts/preview-part.tsx';
import * as ui from './parts/ui.ts';
import { sendUnknown } from './problem-page.tsx';

const requestFacts = (row: RequestRow): ui.Markup => {
  const { reason, limit, limitNow, ticket, link, expiresAtMs } = row;
  const left = limitNow ? `${ui.limitWords(limitNow)}: ${ui.leftOfText(limitNow)}` : <code>{limit}</code>;
  return (
    <>
      <p>{reason}</p>
      <ui.Facts
        of={[
          ['Validity', row.from !== undefined && spanText(row)],
          ['Limit', left],
          ['Ticket', ticket],
          ['Origin', link !== undefined && ui.outside(link, link)],
          ['Expiry', ui.instant(expiresAtMs)],
        ]}
      />
    </>
  );
};

/** In the limit's zone, which is what its days are meant in; as it was written where the limit is gone. */
function spanText({ from = '', until = '', limitNow }: RequestRow): string {
  const dayText = (written: string, which: Edge): string => {
    const atMs = limitNow && readInstant(written, which, limitNow.zone);
    return limitNow === undefined || atMs === undefined ? written : edgeText(atMs, which, limitNow.zone);
  };
  return `${dayText(from, 'start')} to ${dayText(until, 'end')}`;
}

const OVER_SHOWN = 50;

export function requestsPage(rows: readonly RequestRow[]): ui.Markup {
  const waiting = rows.filter((row) => !isDecided(row) && row.expiresAtMs > ui.format().nowMs);
  const over = rows.filter((row) => !waiting.includes(row));
  return (
    <ConsolePage
      title="Requests"
      at="/requests"
      about="File a request on the page of a group. Another user decides it."
    >
      {waiting.length === 0 && <ui.Plain>No requests are waiting.</ui.Plain>}
      {waiting.map((row) => waitingCard(row))}
      {over.length > 0 && (
        <ui.Card id="over" title="Decided">
          <ol class="timeline">
            {over.slice(0, OVER_SHOWN).map((row) => (
              <li>{decidedText(row)}</li>
            ))}
          </ol>
        </ui.Card>
      )}
    </ConsolePage>
  );
}

function waitingCard(row: RequestRow): ui.Markup {
  const { id, subject, path, mayDecide, own } = row;
  return (
    <ui.Card
      id={`r-${id}`}
      title={[ui.requestedText(row), ' for ', ui.subjectLink(subject, path)]}
      aside={`${row.requestedBy}, ${ui.distance(row.requestedAtMs)}`}
    >
      {requestFacts(row)}
      {row.state === 'approved' && (
        <p>Approved by {row.decidedBy}, but not yet in force: approve it again.</p>
      )}
      {mayDecide ? (
        <div class="actions">
          <a class="button main" href={`/requests/${id}`}>
            Review request{ui.hidden(` for ${path}`)}
          </a>
        </div>
      ) : (
        <p class="soft">
          {own ? 'You filed this request, so another user decides.' : 'You may not decide this request.'}
        </p>
      )}
    </ui.Card>
  );
}

function decidedText(row: RequestRow): ui.Markup {
  const { decidedAtMs, decidedBy, note, state } = row;
  const outcome = state === 'pending' ? 'expired' : state;
  return (
    <>
      <span class={`tag ${state === 'approved' ? 'good' : ''}`}>{row.granted ? 'granted' : outcome}</span>{' '}
      <strong>{ui.requestedText(row)}</strong> for {ui.subjectLink(row.subject, row.path)}: {row.reason}
      <p class="soft">
        requested by {row.requestedBy}
        {decidedBy !== undefined && `, decided by ${decidedBy}`}
        {decidedAtMs !== undefined && ` ${ui.distance(decidedAtMs)}`}
        {note !== undefined && `: ${note}`}
        {state === 'approved' && row.link !== undefined && (
          <> · {ui.outside(row.link, 'Retry job in GitLab')}</>
        )}
      </p>
    </>
  );
}

export function askPage(
  { path, subject, limits, zone }: SubjectView,
  values: ui.Values,
  problems: ui.FieldProblems = ui.NO_PROBLEMS,
  others: readonly string[] = [],
): ui.Markup {
  const link = { name: 'link', label: 'Job', type: 'url', max: 500 } as const;
  const fields = [...grantFormFields(limits, zone), { ...link, hint: 'The address of the job in GitLab.' }];
  const back = ui.subjectHref(subject) ?? '/';
  return (
    <ConsolePage title={`Request for more, ${path}`} at="/requests">
      {ui.problemList(problems, others, fields)}
      {limits.every((limit) => limit.amount === 'unlimited') ? (
        <ui.Plain>
          There is no limit here to add to. Request more for a group above. {ui.button(back, 'Back')}
        </ui.Plain>
      ) : (
        <ui.PostForm class="card" action="/ask">
          <ui.List of={limits.map((limit) => `${ui.limitWords(limit)}: ${ui.leftOfText(limit)}`)} />
          {ui.hiddenFields({ subject })}
          {fields.map((each) => ui.field(each, values, problems))}
          <div class="actions">
            <button class="main">Send request</button>
            {ui.button(back, 'Cancel')}
          </div>
        </ui.PostForm>
      )}
    </ConsolePage>
  );
}

const CHANGED = {
  outcome: 'invalid',
  problems: [
    {
      path: [],
      message: 'The limits changed after this request. Decline it; the requester can file a new one.',
    },
  ],
} as const;

async function requestedEdits(
  row: RequestRow,
  { limitEdits }: PagesDeps,
): Promise<{ readonly edits: readonly LimitEdit[]; readonly stale: boolean }> {
  if (row.edit !== undefined) return (await limitEdits.requested(row.id)) ?? { edits: [], stale: true };
  const { subject, limit, amount, from, until, reason, ticket } = row;
  const grant = { kind: 'grant', subject, limit, amount, from, until, reason } as const;
  return { edits: [{ ...grant, ...withoutAbsent({ ticket }) }], stale: false };
}

/** The same preview as of an edit that gives the grant: approving it is one. */
export async function showDecision(
  c: PageContext,
  deps: PagesDeps,
  row: RequestRow,
  values: ui.Values,
): Promise<Response> {
  const { edits, stale } = await requestedEdits(row, deps);
  if (stale) return send(c, decidePage(row, values, CHANGED));
  const base = (await deps.limitEdits.live())?.pointer.set;
  const preview = await deps.read.preview(edits, base, c.var.user);
  if (preview.outcome === 'unknown_subject') return sendUnknown(c);
  // The decision itself settles whose name stands on the grant.
  const isNamed = ({ field }: { readonly field: string }): boolean =>
    field !== 'by' && !field.endsWith('by_user');
  const shown = preview.outcome === 'valid' ? { ...preview, rows: preview.rows.filter(isNamed) } : preview;
  const exact = await countJobs(deps, edits, base, values, c.var.user);
  return send(c, decidePage(row, values, shown, exact));
}

type Decidable = Exclude<PreviewAnswer, { outcome: 'unknown_subject' }> | typeof CHANGED;

/** @param values - `note`, and `link`: the signed link of the visit */
function decidePage(
  row: RequestRow,
  values: ui.Values,
  preview: Decidable,
  exact?: BacktestAnswer,
): ui.Markup {
  const requested = `${ui.requestedText(row)} for ${row.path}`;
  return (
    <ConsolePage
      title={`Review: ${requested}`}
      at="/requests"
      heading={requested}
      crumbs={[<a href="/requests">Requests</a>]}
      about={`Requested by ${row.requestedBy}. Check the effect, then approve or decline.`}
    >
      <ui.Card id="asked" title="Request">
        {requestFacts(row)}
      </ui.Card>
      {preview.outcome === 'valid' ? (
        <>
          {previewPart({ ...preview, needsApproval: [] }, exact)}
          {preview.lockout.length > 0 && (
            <ui.Note tone="bad" lines={preview.lockout}>
              <strong>{LOCKOUT}</strong>
            </ui.Note>
          )}
        </>
      ) : (
        <ui.Note tone="bad" role="alert" lines={preview.problems.map(({ message }) => message)}>
          <strong>The request no longer fits the limits.</strong>
        </ui.Note>
      )}
      <ui.PostForm class="card" id={SAVE_FORM} action={`/requests/${row.id}`}>
        {values.link !== undefined && ui.hiddenFields({ link: values.link })}
        {ui.field({ name: 'note', label: 'Note', max: 500, hint: 'Required to decline.' }, values)}
        <div class="actions">
          <button class="main" name="decision" value="approve" disabled={preview.outcome === 'invalid'}>
            Approve request
          </button>
          <button class="danger" name="decision" value="decline">
            Decline request
          </button>
          {ui.button('/requests', 'Cancel')}
        </div>
      </ui.PostForm>
    </ConsolePage>
  );
}
