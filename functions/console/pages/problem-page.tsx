import type { ApplyOutcome, Denial } from '../../core/limits/edit-model.ts';
import { ACT_WORDS, whoMayText } from '../../core/limits/rights.ts';
import type { User } from '../../core/signin/model.ts';
import type { RenderNotice, SignInNotice } from '../../core/signin/require-user.ts';
import { BarePage, ConsolePage } from './frame.tsx';
import { contactLink, type Markup } from './parts/layout.tsx';

export interface Problem {
  readonly title: string;
  readonly sentence: Markup | string;
  readonly remedy: Markup | string;
  readonly link?: { readonly href: string; readonly text: string };
}

/** One thing that stands in the way, and the way on. */
export const problemPage = (user: User, { title, sentence, remedy, link }: Problem): Markup => (
  <ConsolePage title={title} at="none" user={user}>
    <div class="head">
      <h1>{title}</h1>
    </div>
    <div class="card">
      <div>{sentence}</div>
      <p>{remedy}</p>
      <p>
        <a class="button" href={link?.href ?? '/'}>
          {link?.text ?? 'To the budgets'}
        </a>
      </p>
    </div>
  </ConsolePage>
);

/** Problems of the sign-in, in the console's layout. */
export const renderNotice: RenderNotice = async ({ title, sentence, remedy, link }: SignInNotice) =>
  String(
    <BarePage title={title}>
      <div class="head">
        <h1>{title}</h1>
      </div>
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

export const unknownPlace = (user: User): Markup =>
  problemPage(user, {
    title: 'Not here',
    sentence: 'There is no such page, or it is about a group you may not see.',
    remedy:
      'You see groups in which you are a member in GitLab, and all below them. The sender of a link may see more.',
  });

export const noAnswer = (user: User, changing: boolean): Markup =>
  problemPage(user, {
    title: 'No answer',
    sentence: 'The table that holds limits and counters does not answer at the moment.',
    remedy: changing
      ? 'It may have been saved or not: look at the history of the group before you do it again.'
      : 'Load the page again in a moment. Jobs are decided nevertheless.',
  });

/** Owner of a limit, with contact. */
export interface OwnerContact {
  /** `acme/payments money-month` */
  readonly of: string;
  readonly owner?: string;
  readonly contact?: string;
}

/** Lists refused changes with the missing right and contacts. */
export const forbiddenPage = (
  user: User,
  denied: readonly Denial[],
  reach: readonly OwnerContact[],
  back: string,
): Markup =>
  problemPage(user, {
    title: 'Not yours to change',
    sentence: (
      <>
        Nothing was saved. You are signed in as {user.username}, and this needs another right:
        <ul>
          {denied.slice(0, DENIED_SHOWN).map(({ row, act, needs }) => (
            <li>
              {row.path ?? row.subject} <code>{row.limit}</code> {row.field.replaceAll('_', ' ')}: to{' '}
              {ACT_WORDS[act]} you must be {whoMayText(act, needs)}.
            </li>
          ))}
          {denied.length > DENIED_SHOWN && <li>and {denied.length - DENIED_SHOWN} more</li>}
        </ul>
        {reachList(reach)}
      </>
    ),
    remedy: (
      <>
        Ask a user who is
        {user.roles.finance || user.roles.admin ? (
          ''
        ) : (
          <>
            , or <a href="/ask">ask for more</a>: then it is put before them
          </>
        )}
        . Your rights come from GitLab’s groups and are read again every 15 minutes;{' '}
        <a href="/me">see yours</a>.
      </>
    ),
    link: { href: back, text: 'Back' },
  });

const reachList = (reach: readonly OwnerContact[]): Markup | '' =>
  reach.length === 0 ? (
    ''
  ) : (
    <>
      <p>Contact:</p>
      <ul>
        {reach.map(({ of, owner, contact }) => (
          <li>
            {of}: {owner}
            {owner !== undefined && contact !== undefined && ', '}
            {contact !== undefined && contactLink(contact)}
          </li>
        ))}
      </ul>
    </>
  );

const DENIED_SHOWN = 10;

/** A restricted page. @param who - `of finance or an administrator` */
export const closedPage = (user: User, who: string): Markup =>
  problemPage(user, {
    title: 'Not yours to open',
    sentence: `To open this page you must be ${who}. You are signed in as ${user.username}.`,
    remedy: (
      <>
        Your rights come from GitLab’s groups and are read again every 15 minutes; <a href="/me">see yours</a>
        . The platform team gives them, or an owner of the group in GitLab.
      </>
    ),
  });

type NeedsApproval = Extract<ApplyOutcome, { outcome: 'needs_approval' }>;

/** Nothing changes before another user approves. */
export const approvalPage = (user: User, { by, request }: NeedsApproval, back: string): Markup =>
  problemPage(user, {
    title: request === undefined ? 'Needs approval' : 'Request filed',
    sentence:
      request === undefined
        ? `Nothing was changed: this must be approved by another user, who is ${whoMayText('approve', by)}.`
        : `Nothing is changed yet: another user, who is ${whoMayText('approve', by)}, must approve it.`,
    remedy:
      request === undefined
        ? 'Too many requests are waiting already: some must be decided or expire first.'
        : 'You find it under “Requests”, and so do they.',
    link:
      request === undefined ? { href: back, text: 'Back' } : { href: '/requests', text: 'To the requests' },
  });
