import { withoutAbsent } from '../../../policies/without-absent.ts';
import { coverageShareText } from '../../answers/groups/coverage.ts';
import type { CoverageView, CoveredGroup } from '../../answers/groups/model.ts';
import { ConsolePage } from './frame.tsx';
import { type PageRoutes, query, send } from './page.ts';
import * as ui from './parts/ui.ts';
import { sendUnknown } from './problem-page.tsx';

const SPANS: readonly number[] = [1, 7, 31];
const DAYS = 7;
/** A line with its remedy is about half a kilobyte: a page stays below 100 KB. */
const RUNNERS = 60;
const GROUPS_SHOWN = 60;

export const coverageRoutes: PageRoutes = (app, deps) => {
  app.get('/coverage', async (c) => {
    const days = SPANS.find((each) => each === query.number(c, 'days')) ?? DAYS;
    const group = query.number(c, 'group');
    const shown = { days, ...withoutAbsent({ group, cursor: query.cursor(c) }), max: RUNNERS };
    const view = await deps.read.coverage(shown, c.var.user);
    return view === undefined ? sendUnknown(c) : send(c, coveragePage(view, days, group));
  });
};

const coveragePage = (view: CoverageView, days: number, group: number | undefined): ui.Markup => {
  const { total, note, path, groups } = view;
  return (
    <ConsolePage
      title="Coverage"
      at="/coverage"
      about={
        <>
          GitLab sent an admission request for this share of the jobs that ran.{' '}
          {path === '' ? '' : `${path}, `}
          {ui.daySpan(view)}.{' '}
          {group !== undefined && <a href={ui.address('/coverage', { days })}>All groups</a>}
        </>
      }
      actions={<ui.DaysForm action="/coverage" only={{ group }} choices={SPANS} days={days} />}
    >
      {total.ran + total.ranRejected === 0 ? (
        <ui.Plain>
          <strong>No job ended in this period.</strong>
        </ui.Plain>
      ) : (
        <>
          {note !== undefined && (
            <ui.Note tone="bad" role="status">
              {note}
            </ui.Note>
          )}
          {totalCard(view)}
          {runnersCard(view, { days, group })}
          {groups.length > 0 && groupsCard(view, days)}
        </>
      )}
    </ConsolePage>
  );
};

const totalCard = ({ total }: CoverageView): ui.Markup => (
  <ui.Card id="total" title="All jobs that ended">
    <ui.Facts
      style="figures"
      of={[
        ['Coverage', coverageShareText(total.share), total.bypass === 0 ? 'good-text' : 'warn-text'],
        ['Jobs run', ui.number(total.ran)],
        ['Requests', ui.number(total.asked)],
        ['Bypassed', ui.number(total.bypass)],
        ['Ran despite rejection', total.ranRejected > 0 && ui.number(total.ranRejected)],
      ]}
    />
    <p class="soft">
      Bypassed jobs ran without an admission request. They were not checked, and were charged afterwards.
    </p>
  </ui.Card>
);

function runnersCard(view: CoverageView, shown: Parameters<typeof ui.address>[1]): ui.Markup {
  const { runners, runnersTotal, runnersBypassing, next, unknownRunner, otherRunners } = view;
  const bypassing = runners.filter(({ bypass }) => bypass > 0);
  const apart = unknownRunner.bypass + otherRunners.bypass;
  const more = bypassing.length === runners.length ? next : undefined;
  return (
    <ui.Card id="runners" title="Runners with bypassed jobs">
      {bypassing.length > 0 && (
        <ui.Table
          label="Runners with bypassed jobs"
          columns={{
            Runner: ({ runnerId, description = `Runner ${runnerId}`, version }) => [
              description,
              ui.soft(version),
            ],
            ...COUNTS,
            Remedy: { style: 'job', cell: ({ remedy }) => remedy },
          }}
          rows={bypassing}
        />
      )}
      {apart > 0 && <p>{ui.pageCount(apart, 'more bypassed job')} ran on unknown runners.</p>}
      <ui.PageLinks next={more && ui.address('/coverage', { ...shown, cursor: more })}>
        {runnersBypassing} of {ui.pageCount(runnersTotal, 'runner')}
      </ui.PageLinks>
    </ui.Card>
  );
}

type Counts = Omit<CoverageView['otherGroups'], 'ran'> & Partial<Pick<CoveredGroup, 'ran' | 'share'>>;

const COUNTS: ui.Columns<Counts> = {
  Requests: { style: 'n', cell: ({ asked }) => ui.number(asked) },
  Bypassed: {
    style: 'n',
    cell: ({ bypass }) => ui.number(bypass),
    tone: ({ bypass }) => (bypass > 0 ? 'warn-text' : ''),
  },
  Coverage: { style: 'n', cell: ({ share }) => coverageShareText(share) },
};

const groupsCard = ({ groups, otherGroups }: CoverageView, days: number): ui.Markup => (
  <ui.Card id="groups" title="Groups">
    <ui.Table
      label="Groups"
      columns={{
        Group: ({ subject, path }) => (
          <a href={ui.address('/coverage', { days, group: subject.slice('group/'.length) })}>
            {ui.pathMarkup(path)}
          </a>
        ),
        'Jobs run': { style: 'n', cell: ({ ran }) => ui.number(ran) },
        ...COUNTS,
      }}
      rows={groups.slice(0, GROUPS_SHOWN)}
      foot={[
        otherGroups.ran > 0 && {
          Group: <span class="soft">Direct projects, and groups not listed</span>,
          ...{ 'Jobs run': ui.number(otherGroups.ran), Requests: ui.number(otherGroups.asked) },
          Bypassed: ui.number(otherGroups.bypass),
        },
      ]}
    />
  </ui.Card>
);
