import { Hono } from 'hono';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ShadowRow, ShadowView } from '../../answers/rollout/model.ts';
import { type OwnerMessage, ownerMessage } from '../../answers/rollout/shadow.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { mayOpen } from './page-access.ts';
import {
  type PagesDeps,
  pageFormatOf,
  query,
  queryCursor,
  readReportDays,
  readWholeNumber,
  send,
} from './page-deps.ts';
import {
  daySpan,
  limitAmountWords,
  limitWords,
  type PageFormat,
  pageAmount,
  pageCount,
} from './parts/amounts.tsx';
import {
  address,
  contactLink,
  DaysForm,
  Done,
  isMail,
  type Markup,
  PostForm,
  subjectLink,
} from './parts/layout.tsx';
import { REPORT_DONE } from './rollout.tsx';

interface ShadowShown {
  readonly view: ShadowView;
  readonly days: number;
  readonly group: number | undefined;
  readonly project: number | undefined;
  /** A message can be sent from here; else a mail is opened where the reader is. */
  readonly canTell: boolean;
  readonly origin: string;
  readonly done: string | undefined;
}

const SPANS: readonly number[] = [7, 14, 30, 62];

/** Violations in shadow mode. */
function shadowPage(user: User, shown: ShadowShown, telling: PageFormat): Markup {
  const { view, days, group, project, done } = shown;
  return (
    <ConsolePage title="Shadow report" at="/shadow" user={user}>
      <div class="head">
        <div>
          <h1>Shadow report</h1>
          <p>
            What would have failed, had the limits and rules that only watch been enforced. {daySpan(view)}.
          </p>
        </div>
        <DaysForm action="/shadow" only={{ group, project }} choices={SPANS} days={days} />
      </div>
      <Done text={done} />
      {view.rows.length === 0 ? (
        <div class="card">
          <p>
            <strong>Nothing watches here.</strong>
          </p>
          <p>
            A limit in mode <code>shadow</code> or <code>warn</code> shows here what it would have rejected.
            Everything you see is enforced, off, or had nothing to say.
          </p>
        </div>
      ) : (
        <>
          {view.rows.map((row) => card(user, row, shown, telling))}
          <nav class="pages" aria-label="Pages">
            <span>
              {pageCount(view.total, project === undefined ? 'group' : 'project')} with something that watches
            </span>
            {view.next !== undefined && (
              <a class="button" rel="next" href={address('/shadow', { days, group, cursor: view.next })}>
                Next
              </a>
            )}
          </nav>
        </>
      )}
    </ConsolePage>
  );
}

function card(
  user: User,
  row: ShadowRow,
  { days, canTell, origin }: ShadowShown,
  telling: PageFormat,
): Markup {
  const { subject, path, jobs, ranRejected, ranRejectedBy, wouldFail, limits, owner, contact } = row;
  const failing = wouldFail[0]?.jobs ?? 0;
  const message = ownerMessage(row, { days, origin, currency: telling.currency });
  const mail = isMail(contact) ? mailHref(contact, message) : undefined;
  return (
    <article class="card" aria-labelledby={`s-${subject.replace('/', '-')}`}>
      <h2 id={`s-${subject.replace('/', '-')}`}>
        <span>{subjectLink(subject, path)}</span>
        <small class="soft">{pageCount(jobs, 'job')}</small>
      </h2>
      {ranRejected > 0 && (
        <>
          <p>
            <strong class="warn-text">{pageCount(ranRejected, 'job')}</strong> ran although{' '}
            {ranRejected === 1 ? 'it was' : 'they were'} rejected: GitLab follows no answer while the
            controller is in <code>dry_run</code>. Enabled, it would have failed them.
          </p>
          <ul>
            {ranRejectedBy.map(({ rule, jobs: count }) => (
              <li>
                <code>{rule}</code>: {pageCount(count, 'job')}
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        {failing === 0 ? (
          <strong class="good-text">By what only watches no job would have failed.</strong>
        ) : (
          <>
            <strong class="warn-text">
              {wouldFail.length > 1 ? 'At least ' : ''}
              {pageCount(failing, 'job')}
            </strong>{' '}
            would have failed by what only watches.
          </>
        )}
      </p>
      {wouldFail.length > 0 && (
        <ul>
          {wouldFail.map(({ rule, jobs: count }) => (
            <li>
              <code>{rule}</code>: {pageCount(count, 'job')}
            </li>
          ))}
        </ul>
      )}
      {limits.length > 0 && (
        <ul>
          {limits.map(({ limit, refusedAmount }) => (
            <li>
              {limitWords(limit)}, {limitAmountWords(limit, telling)} ({limit.mode})
              {limit.period !== undefined && <>, {limit.period.label}</>}:{' '}
              {pageAmount(refusedAmount, limit.unit, telling)} would not have been let in
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        {canTell && (owner ?? contact) !== undefined && mayOpen('POST /rollout/report', user.roles) ? (
          <PostForm user={user} action="/rollout/report">
            <input type="hidden" name="subject" value={subject} />
            <input type="hidden" name="days" value={days} />
            <input type="hidden" name="back" value="shadow" />
            <button>
              Send to owner<span class="hidden"> of {path}</span>
            </button>
          </PostForm>
        ) : mail !== undefined ? (
          <a class="button" href={mail}>
            Send to owner<span class="hidden"> of {path}</span>
          </a>
        ) : (
          <span class="soft">
            No mail address of an owner is known
            {contact !== undefined && <>; contact {contactLink(contact)}</>}.
          </span>
        )}
        {owner !== undefined && <span class="soft">Owner: {owner}</span>}
      </div>
    </article>
  );
}

function mailHref(contact: string, { subject, text }: OwnerMessage): string {
  const [to, about, body] = [contact, subject, text].map(encodeURIComponent);
  return `mailto:${to}?subject=${about}&body=${body}`;
}

/** The shadow report; what sends it to an owner is the rollout's. */
export function shadowRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const { read } = deps;
  const app = new Hono<SignInEnv>();

  app.get('/shadow', async (c) => {
    const { user } = c.var;
    const days = readReportDays(query(c, 'days'));
    const group = readWholeNumber(query(c, 'group'));
    const project = readWholeNumber(query(c, 'project'));
    const cursor = queryCursor(c);
    const view = await read.shadow({ days, ...withoutAbsent({ group, project, cursor }), max: CARDS }, user);
    const done = REPORT_DONE[query(c, 'done') ?? ''];
    const shown = {
      view,
      days,
      group,
      project,
      canTell: deps.tellOwner !== undefined,
      origin: deps.origin,
      done,
    };
    return send(c, shadowPage(user, shown, pageFormatOf(deps)));
  });

  return app;
}

/** A card is about a kilobyte: a page stays below 100 KB. */
const CARDS = 40;
