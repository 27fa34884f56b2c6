import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { DocumentProblem } from '../../../policies/document/reading.ts';
import type { ApplyOutcome, Denial } from '../../core/limits/edit-outcomes.ts';
import { actText, rolesText } from '../../core/limits/rights.ts';
import type { User } from '../../core/signin/model.ts';
import type { RenderNotice } from '../../core/signin/require-user.ts';
import { visibleRows } from '../api/edits.ts';
import { BarePage, ConsolePage } from './frame.tsx';
import { type PageContext, type PagesDeps, send } from './page.ts';
import * as ui from './parts/ui.ts';

export interface Problem {
  readonly title: string;
  readonly sentence: Child;
  readonly remedy: Child;
  readonly link?: readonly [href: string, text: string];
}

const problemPage = ({ title, sentence, remedy, link }: Problem): ui.Markup => (
  <ConsolePage title={title} at="none">
    <div class="card">
      <div>{sentence}</div>
      <p>{remedy}</p>
      <p>{ui.button(...(link ?? (['/', 'Open budgets'] as const)))}</p>
    </div>
  </ConsolePage>
);

export const renderNotice: RenderNotice = async ({ title, sentence, remedy, link }) =>
  String(
    <BarePage title={title}>
      <div class="card">
        <p>{sentence}</p>
        <p>{remedy}</p>
        {link !== undefined && (
          <p>
            <a class="button main" href={link.href}>
              {link.text}
            </a>
          </p>
        )}
      </div>
    </BarePage>,
  );

export const sendProblem = (c: PageContext, problem: Problem, status: ContentfulStatusCode) =>
  send(c, problemPage(problem), status);

export const sendUnknown = (c: PageContext) =>
  sendProblem(
    c,
    {
      title: 'Not found',
      sentence: 'This page does not exist, or it is about a group you may not see.',
      remedy: 'Check the address, or ask an owner of the group in GitLab for membership.',
    },
    404,
  );

const forbiddenProblem = (user: User, denied: readonly Denial[], back: string): Problem => ({
  title: 'No right to change this',
  sentence: (
    <>
      Nothing was saved. You are signed in as {user.username}, and these changes need other rights:
      <ui.List
        of={denied.slice(0, 10).map(({ row, act, needs }) => (
          <>
            {row.path ?? row.subject} <code>{row.limit}</code> {row.field.replaceAll('_', ' ')}: to{' '}
            {actText(act)} you must be {rolesText(act, needs)}.
          </>
        ))}
      />
    </>
  ),
  remedy: (
    <>
      Ask a user who has these rights, or{' '}
      <a href={`/ask?subject=${encodeURIComponent(denied[0]?.row.subject ?? 'instance')}`}>request more</a>.
      The request is sent to such users. {RIGHTS}
    </>
  ),
  link: [back, 'Back'],
});

const RIGHTS = (
  <>
    Your rights come from your groups in GitLab, and are read again every 15 minutes.{' '}
    <a href="/me">Show your rights</a>.
  </>
);

export const closedPage = (user: User, who: string): ui.Markup =>
  problemPage({
    title: 'No right to open this page',
    sentence: `To open this page you must be ${who}. You are signed in as ${user.username}.`,
    remedy: RIGHTS,
  });

type NeedsApproval = Extract<ApplyOutcome, { outcome: 'needs_approval' }>;

function approvalProblem({ by, request }: NeedsApproval, back: string): Problem {
  const who = rolesText('approve', by);
  const sentence = `Nothing was changed yet. Another user, who is ${who}, must approve the change.`;
  if (request !== undefined)
    return {
      title: 'Request filed',
      sentence,
      remedy: 'The request is listed under “Requests”.',
      link: REQUESTS,
    };
  const remedy = 'Too many requests are waiting. Some must be decided or expire first.';
  return { title: 'Needs approval', sentence, remedy, link: [back, 'Back'] };
}

export const REQUESTS = ['/requests', 'Open requests'] as const;

export type Stale = Omit<Extract<ApplyOutcome, { outcome: 'stale' }>, 'outcome'>;

export interface EditAnswers {
  readonly back: string;
  readonly saved?: string;
  readonly invalid: (problems: readonly DocumentProblem[]) => Promise<Response>;
  readonly stale: (stale: Stale) => Promise<Response>;
  readonly unconfirmed: () => Promise<Response>;
}

/** Responds to the outcome of an edit; no row of a hidden subject is shown. */
export async function respondToEdit(
  c: PageContext,
  { read, log }: PagesDeps,
  outcome: ApplyOutcome,
  { back, saved = back, invalid, stale, unconfirmed }: EditAnswers,
): Promise<Response> {
  const { user } = c.var;
  const sees = await read.sight(user);
  switch (outcome.outcome) {
    case 'live': {
      const { edit } = outcome.pointer;
      log.info('limits edited', { user: user.id, edit, rows: outcome.rows.length });
      return c.redirect(ui.address(saved, { saved: edit }), 303);
    }
    case 'unchanged':
      return c.redirect(ui.address(saved, { saved: 'nothing' }), 303);
    case 'invalid':
      return invalid(outcome.problems);
    case 'forbidden': {
      const denied = outcome.denied.filter(({ row }) => sees(row.subject));
      return sendProblem(c, forbiddenProblem(user, denied, back), 403);
    }
    case 'stale':
      return stale(visibleRows(outcome, sees));
    case 'needs_confirmation':
      return unconfirmed();
    case 'needs_approval':
      return sendProblem(c, approvalProblem(outcome, back), 202);
  }
}
