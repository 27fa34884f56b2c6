import { withoutAbsent } from '../../../policies/without-absent.ts';
import { coverageShareText } from '../../answers/groups/coverage.ts';
import type { CoverageView, CoveredGroup } from '../../answers/groups/model.ts';
import { ConsolePage } from './frame.tsx';
import { formatOf, type PageRoutes, queryCursor, queryNumber, send } from './page-deps.ts';
import { daySpan, number, type PageFormat, pageCount, shortDayLabel } from './parts/amounts.tsx';
import {
  address,
  Card,
  type Column,
  DaysForm,
  Facts,
  hidden,
  type Markup,
  Note,
  PageLinks,
  Plain,
  pathMarkup,
  soft,
  subjectHref,
  Table,
} from './parts/layout.tsx';
import { sendUnknown } from './problem-page.tsx';

const SPANS: readonly number[] = [1, 7, 31];
const DAYS = 7;
/** A line with its remedy is about half a kilobyte: a page stays below 100 KB. */
const RUNNERS = 60;
const GROUPS_SHOWN = 60;

/** Which jobs GitLab asked about, and which runners pass by. */
export const coverageRoutes: PageRoutes = (app, deps) => {
  app.get('/coverage', async (c) => {
    const days = SPANS.find((each) => each === queryNumber(c, 'days')) ?? DAYS;
    const group = queryNumber(c, 'group');
    const asked = { days, ...withoutAbsent({ group, cursor: queryCursor(c) }), max: RUNNERS };
    const view = await deps.read.coverage(asked, c.var.user);
    return view === undefined
      ? sendUnknown(c)
      : send(c, coveragePage({ view, days, group }, formatOf(c, deps)));
  });
};

interface CoverageShown {
  readonly view: CoverageView;
  readonly days: number;
  readonly group: number | undefined;
}

const coveragePage = (shown: CoverageShown, { user }: PageFormat): Markup => {
  const { view, days, group } = shown;
  const { total, note, path, groups } = view;
  return (
    <ConsolePage
      title="Coverage"
      at="/coverage"
      user={user}
      about={
        <>
          Of the jobs that ran, how many GitLab asked Tollgate about. {path === '' ? '' : `${path}, `}
          {daySpan(view)}. {group !== undefined && <a href={address('/coverage', { days })}>All</a>}
        </>
      }
      actions={<DaysForm action="/coverage" only={{ group }} choices={SPANS} days={days} />}
    >
      {total.ran + total.ranRejected === 0 ? (
        <Plain>
          <strong>No job has ended in these days.</strong> A job is counted when GitLab reports its end, by
          webhook or to the sweep.
        </Plain>
      ) : (
        <>
          {note !== undefined && (
            <Note tone="bad" role="status">
              {note}
            </Note>
          )}
          {totalCard(view)}
          {runnersCard(shown)}
          {groups.length > 0 && groupsCard(view, days)}
        </>
      )}
    </ConsolePage>
  );
};

const totalCard = ({ total }: CoverageView): Markup => (
  <Card id="total" title="All jobs that ended">
    <Facts
      style="figures"
      of={[
        ['Asked ÷ ran', coverageShareText(total.share), total.bypass === 0 ? 'good-text' : 'warn-text'],
        ['Ran', number(total.ran)],
        ['Asked about', number(total.asked)],
        [
          'Passed by',
          <>
            {number(total.bypass)}
            {total.lastBypassDay !== undefined && soft(`last on ${shortDayLabel(total.lastBypassDay)}`)}
          </>,
        ],
      ]}
    />
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

function runnersCard({ view, days, group }: CoverageShown): Markup {
  const { runners, runnersTotal, runnersBypassing, next, unknownRunner, otherRunners } = view;
  const shown = runners.filter(({ bypass }) => bypass > 0);
  const apart = unknownRunner.bypass + otherRunners.bypass;
  const more = shown.length === runners.length ? next : undefined;
  return (
    <Card id="runners" title="Runners that pass by">
      {shown.length === 0 ? (
        <p>
          {runnersTotal === 0
            ? 'No runner is known by its id.'
            : 'GitLab asked about every job of these runners.'}
        </p>
      ) : (
        <Table
          label="Runners that pass by"
          columns={[
            {
              ...{ head: 'Runner', isName: true },
              cell: ({ runnerId, description, version = 'version not known' }) => (
                <>
                  {description ?? `Runner ${runnerId}`}
                  {soft(description === undefined ? version : `runner ${runnerId}, ${version}`)}
                </>
              ),
            },
            ...countColumns<(typeof shown)[number]>().slice(1),
            { head: 'Remedy', style: 'job', cell: ({ remedy }) => remedy },
          ]}
          rows={shown}
        />
      )}
      {apart > 0 && (
        <p>Besides: {pageCount(apart, 'job')} on runners that GitLab did not name, or on others.</p>
      )}
      <PageLinks next={more && address('/coverage', { days, group, cursor: more })}>
        {runnersBypassing} of {pageCount(runnersTotal, 'runner')}
      </PageLinks>
    </Card>
  );
}

type Counts = Omit<CoverageView['otherGroups'], 'ran'> &
  Partial<Pick<CoveredGroup, 'ran' | 'share' | 'lastBypassDay'>>;

const countColumns = <Row extends Counts>(): readonly Column<Row>[] => [
  { head: 'Ran', style: 'n', label: 'ran', cell: ({ ran = 0 }) => number(ran) },
  { head: 'Asked', style: 'n', label: 'asked', cell: ({ asked }) => number(asked) },
  {
    ...{ head: 'Passed by', style: 'n', label: 'passed by', cell: ({ bypass }) => number(bypass) },
    tone: ({ bypass }) => (bypass > 0 ? 'warn-text' : ''),
  },
  { head: 'Share', style: 'n', label: 'share', cell: ({ share }) => coverageShareText(share) },
  {
    ...{ head: 'Last', style: 'when', label: 'last' },
    cell: ({ lastBypassDay }) => (lastBypassDay === undefined ? '–' : shortDayLabel(lastBypassDay)),
  },
];

const groupsCard = ({ groups, otherGroups }: CoverageView, days: number): Markup => (
  <Card id="groups" title="Groups">
    <Table
      label="Groups"
      columns={[
        {
          ...{ head: 'Group', isName: true, style: 'path' },
          cell: ({ subject, path }) => (
            <>
              <a href={address('/coverage', { days, group: subject.slice('group/'.length) })}>
                {pathMarkup(path)}
              </a>{' '}
              <small>
                <a href={subjectHref(subject)}>limits{hidden(` of ${path}`)}</a>
              </small>
            </>
          ),
        },
        ...countColumns<CoveredGroup>(),
      ]}
      rows={groups.slice(0, GROUPS_SHOWN)}
      foot={
        otherGroups.ran > 0
          ? [
              {
                Group: <span class="soft">Projects right here, and groups not listed</span>,
                ...{ Ran: number(otherGroups.ran), Asked: number(otherGroups.asked) },
                'Passed by': number(otherGroups.bypass),
                Share: coverageShareText(otherGroups.asked / otherGroups.ran),
              },
            ]
          : []
      }
    />
    {groups.length > GROUPS_SHOWN && (
      <p class="soft">The {GROUPS_SHOWN} groups with most jobs that passed by.</p>
    )}
  </Card>
);
