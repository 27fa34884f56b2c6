import { Hono } from 'hono';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { coverageShareText } from '../../answers/groups/coverage.ts';
import type { CoverageView, CoveredGroup, CoveredRunnerRow } from '../../answers/groups/model.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { ConsolePage } from './frame.tsx';
import { type PagesDeps, query, queryCursor, readWholeNumber, send } from './page-deps.ts';
import { daySpan, pageCount, shortDayLabel } from './parts/amounts.tsx';
import {
  address,
  Card,
  DaysForm,
  type Markup,
  PageLinks,
  pathMarkup,
  subjectHref,
  Table,
} from './parts/layout.tsx';
import { unknownPlace } from './problem-page.tsx';

const SPANS: readonly number[] = [1, 7, 31];
const DAYS = 7;
/** A line with its remedy is about half a kilobyte: a page stays below 100 KB. */
const RUNNERS = 60;
const GROUPS_SHOWN = 60;

/** Which jobs GitLab asked about, and which runners pass by. */
export function coverageRoutes({ read }: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();
  app.get('/coverage', async (c) => {
    const { user } = c.var;
    const days = SPANS.find((each) => each === readWholeNumber(query(c, 'days'))) ?? DAYS;
    const group = readWholeNumber(query(c, 'group'));
    const cursor = queryCursor(c);
    const view = await read.coverage({ days, ...withoutAbsent({ group, cursor }), max: RUNNERS }, user);
    if (view === undefined) return send(c, unknownPlace(user), 404);
    return send(c, coveragePage(user, { view, days, group }));
  });
  return app;
}

interface CoverageShown {
  readonly view: CoverageView;
  readonly days: number;
  readonly group: number | undefined;
}

const coveragePage = (user: User, { view, days, group }: CoverageShown): Markup => (
  <ConsolePage title="Coverage" at="/coverage" user={user}>
    <div class="head">
      <div>
        <h1>Coverage</h1>
        <p>
          Of the jobs that ran, how many GitLab asked Tollgate about.{' '}
          {view.path === '' ? '' : `${view.path}, `}
          {daySpan(view)}.
          {group !== undefined && (
            <>
              {' '}
              <a href={address('/coverage', { days })}>All</a>
            </>
          )}
        </p>
      </div>
      <DaysForm action="/coverage" only={{ group }} choices={SPANS} days={days} />
    </div>
    {view.total.ran + view.total.ranRejected === 0 ? (
      <div class="card">
        <p>
          <strong>No job has ended in these days.</strong>
        </p>
        <p>A job is counted when GitLab reports its end, by webhook or to the sweep.</p>
      </div>
    ) : (
      <>
        {view.note !== undefined && (
          <div class="note bad" role="status">
            <p>{view.note}</p>
          </div>
        )}
        {totalCard(view)}
        {runnersCard(view, days, group)}
        {view.groups.length > 0 && groupsCard(view, days)}
      </>
    )}
  </ConsolePage>
);

const totalCard = ({ total }: CoverageView): Markup => (
  <Card id="total" title="All jobs that ended">
    <dl class="figures">
      <div>
        <dt>Asked ÷ ran</dt>
        <dd class={total.bypass === 0 ? 'good-text' : 'warn-text'}>{coverageShareText(total.share)}</dd>
      </div>
      <div>
        <dt>Ran</dt>
        <dd>{total.ran.toLocaleString('en-US')}</dd>
      </div>
      <div>
        <dt>Asked about</dt>
        <dd>{total.asked.toLocaleString('en-US')}</dd>
      </div>
      <div>
        <dt>Passed by</dt>
        <dd>
          {total.bypass.toLocaleString('en-US')}
          {total.lastBypassDay !== undefined && <small>last on {shortDayLabel(total.lastBypassDay)}</small>}
        </dd>
      </div>
    </dl>
    <p class="soft">
      Jobs that bypassed Tollgate ran unchecked and were charged afterwards.
      {total.ranRejected > 0 && (
        <>
          {' '}
          Of the jobs asked about {pageCount(total.ranRejected, 'job')} ran although rejected: see the{' '}
          <a href="/shadow">shadow report</a>.
        </>
      )}
    </p>
  </Card>
);

function runnersCard(view: CoverageView, days: number, group: number | undefined): Markup {
  const { runners, runnersTotal, runnersBypassing, next, unknownRunner, otherRunners } = view;
  const shown = runners.filter(({ bypass }) => bypass > 0);
  const asking = runnersTotal - runnersBypassing;
  const apart = [
    unknownRunner.bypass > 0 &&
      `${pageCount(unknownRunner.bypass, 'job')} on a runner that GitLab did not name`,
    otherRunners.bypass > 0 && `${pageCount(otherRunners.bypass, 'job')} on other runners`,
  ].filter((each) => each !== false);
  return (
    <Card id="runners" title="Runners that pass by">
      {shown.length === 0 ? (
        <p>
          {runnersTotal === 0 ? (
            'No runner is known by its id.'
          ) : runnersBypassing > 0 ? (
            'No more of them.'
          ) : (
            <strong class="good-text">{everyRunnerAsks(runnersTotal)}</strong>
          )}
        </p>
      ) : (
        <Table
          label="Runners that pass by"
          columns={['Runner', ['Passed by', 'n'], ['Asked', 'n'], ['Share', 'n'], 'Last', 'Remedy']}
        >
          <tbody>{shown.map(runnerLine)}</tbody>
        </Table>
      )}
      {apart.length > 0 && <p>Besides: {apart.join(', and ')}.</p>}
      {shown.length > 0 && (
        <PageLinks
          next={
            next !== undefined && shown.length === runners.length
              ? address('/coverage', { days, group, cursor: next })
              : undefined
          }
        >
          {runnersBypassing} of {pageCount(runnersTotal, 'runner')}
          {asking > 0 &&
            `; ${asking === 1 ? 'the other one asks' : `the other ${asking} ask`} about every job`}
        </PageLinks>
      )}
    </Card>
  );
}

const everyRunnerAsks = (runners: number): string =>
  runners === 1
    ? 'GitLab asked about every job of the one runner.'
    : `GitLab asked about every job of all ${runners} runners.`;

const runnerLine = (row: CoveredRunnerRow): Markup => (
  <tr>
    <th scope="row">
      {row.description ?? `Runner ${row.runnerId}`}
      <small class="soft when">
        {row.description !== undefined && `runner ${row.runnerId}, `}
        {row.version ?? 'version not known'}
      </small>
    </th>
    <td class="n warn-text" data-l="passed by">
      {row.bypass.toLocaleString('en-US')}
    </td>
    <td class="n" data-l="asked">
      {row.asked.toLocaleString('en-US')}
    </td>
    <td class="n" data-l="share">
      {coverageShareText(row.share)}
    </td>
    <td class="when" data-l="last">
      {row.lastBypassDay === undefined ? '–' : shortDayLabel(row.lastBypassDay)}
    </td>
    <td class="job">{row.remedy}</td>
  </tr>
);

const groupsCard = ({ groups, otherGroups }: CoverageView, days: number): Markup => (
  <Card id="groups" title="Groups">
    <Table
      label="Groups"
      columns={['Group', ['Share', 'n'], ['Passed by', 'n'], ['Asked', 'n'], ['Ran', 'n'], 'Last']}
    >
      <tbody>
        {groups.slice(0, GROUPS_SHOWN).map((row) => groupLine(row, days))}
        {otherGroups.ran > 0 && (
          <tr>
            <th scope="row" class="soft">
              Projects right here, and groups not listed
            </th>
            <td class="n" data-l="share">
              {coverageShareText(otherGroups.asked / otherGroups.ran)}
            </td>
            {jobCells(otherGroups)}
            <td />
          </tr>
        )}
      </tbody>
    </Table>
    {groups.length > GROUPS_SHOWN && (
      <p class="soft">The {GROUPS_SHOWN} groups with most jobs that passed by.</p>
    )}
  </Card>
);

const groupLine = (row: CoveredGroup, days: number): Markup => (
  <tr>
    <th scope="row" class="path">
      <a href={address('/coverage', { days, group: row.subject.slice('group/'.length) })}>
        {pathMarkup(row.path)}
      </a>{' '}
      <small>
        <a href={subjectHref(row.subject)}>
          limits<span class="hidden"> of {row.path}</span>
        </a>
      </small>
    </th>
    <td class={`n ${row.bypass > 0 ? 'warn-text' : ''}`} data-l="share">
      {coverageShareText(row.share)}
    </td>
    {jobCells(row)}
    <td class="when" data-l="last">
      {row.lastBypassDay === undefined ? '–' : shortDayLabel(row.lastBypassDay)}
    </td>
  </tr>
);

const jobCells = ({ bypass, asked, ran }: CoverageView['otherGroups']): Markup => (
  <>
    <td class="n" data-l="passed by">
      {bypass.toLocaleString('en-US')}
    </td>
    <td class="n" data-l="asked">
      {asked.toLocaleString('en-US')}
    </td>
    <td class="n" data-l="ran">
      {ran.toLocaleString('en-US')}
    </td>
  </>
);
