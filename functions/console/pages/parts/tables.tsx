import type { Child } from 'hono/jsx';
import { unitRow } from '../../../../policies/unit.ts';
import type { GroupRow } from '../../../answers/groups/model.ts';
import type { RequestRow } from '../../../answers/limits/models.ts';
import type { ChangeRow } from '../../../core/limits/edit-model.ts';
import { edge, instant, limitColumns, modeTag, pageAmount, pageCount } from './amounts.tsx';
import { format } from './format.ts';
import { hidden, List, type Markup, pathMarkup, soft, subjectHref, subjectLink, Table } from './layout.tsx';

const ROWS_SHOWN = 100;

export function changeTable(rows: readonly ChangeRow[], label: string): Markup {
  if (rows.length === 0) return <p class="soft">No differences.</p>;
  const named = rows.filter(hasName);
  return (
    <>
      <Table
        label={label}
        columns={{
          Subject: (row) => subjectLink(row.subject, row.path ?? subjectWords(row.subject)),
          Field: fieldName,
          Before: (row) => valueText(row.from, row),
          After: (row) => valueText(row.to, row),
          Effect: ({ effect }) => EFFECTS[effect],
        }}
        rows={named.slice(0, ROWS_SHOWN)}
      />
      {named.length > ROWS_SHOWN && (
        <p>{soft(`${pageCount(named.length - ROWS_SHOWN, 'more difference')} not shown.`)}</p>
      )}
    </>
  );
}

/** Ids of users are for programs; names are shown. */
const hasName = ({ field }: ChangeRow): boolean => !field.endsWith('by_user');

const LINES_SHOWN = 6;

export function changeLines(rows: readonly ChangeRow[], moreHref: string): Markup | '' {
  const named = rows.filter(hasName);
  const lines: Child[] = named.slice(0, LINES_SHOWN).map((row) => (
    <>
      {row.path ?? subjectWords(row.subject)}: {fieldName(row)}{' '}
      <span class="from">{valueText(row.from, row)}</span> → {valueText(row.to, row)}
    </>
  ));
  if (named.length > LINES_SHOWN)
    lines.push(<a href={moreHref}>and {pageCount(named.length - LINES_SHOWN, 'more difference')}</a>);
  return <List of={lines} />;
}

const fieldName = ({ about, limit, field }: ChangeRow): Markup => (
  <>
    {ABOUT[about]} {limit !== '' && <code>{limit}</code>} {field.replaceAll('_', ' ')}
  </>
);

const ABOUT: Readonly<Record<ChangeRow['about'], string>> = {
  limit: '',
  grant: 'Grant on',
  freeze: 'Freeze',
  breakglass: 'Break-glass',
  rollout: 'Rollout of',
  document: 'All limits',
};
const EFFECTS = {
  tightens: <span class="tag warn">tightens</span>,
  loosens: <span class="tag good">loosens</span>,
  neutral: <span class="tag">no effect on jobs</span>,
} as const;

const subjectWords = (subject: string): string =>
  subject === 'instance' ? 'the whole GitLab' : subject.replace(/^groups\//, 'default of ').replace('/', ' ');

/** As limits.yaml has them. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z$/;

function valueText(value: ChangeRow['from'], { unit, field, zone = 'UTC' }: ChangeRow): Markup {
  if (value === null) return <span class="soft">none</span>;
  if (typeof value !== 'string' || !INSTANT.test(value)) return <span>{fieldText(value, unit)}</span>;
  const atMs = Date.parse(value);
  if (field === 'from') return edge(atMs, 'start', { zone });
  return field === 'until' ? edge(atMs, 'end', { zone }) : instant(atMs);
}

export const fieldText = (value: ChangeRow['from'], unit: ChangeRow['unit']): string =>
  typeof value === 'number' && unit !== undefined ? pageAmount(value, unit) : (value ?? 'none').toString();

export function groupTable(
  rows: readonly GroupRow[],
  label: string,
  { tree, mayEdit = false }: { readonly tree?: (groupId: number) => string; readonly mayEdit?: boolean } = {},
): Markup {
  return (
    <Table
      label={label}
      columns={{
        Subject: (row) => (
          <>
            {subjectLink(row.subject, subjectHref(row.subject) ? pathMarkup(row.path) : row.path)} {tags(row)}
            {tree !== undefined && row.groupId !== undefined && row.children > 0 && (
              <small>
                <a href={tree(row.groupId)}>
                  {pageCount(row.children, 'group')} below{hidden(` ${row.path}`)}
                </a>
              </small>
            )}
          </>
        ),
        ...limitColumns<GroupRow>({
          mayEdit,
          limitOf: ({ budget }) => budget,
          without: ({ metered }) => ({
            Use: soft('no budget'),
            Spent: pageAmount(metered.settledMicros, 'micros'),
            Held: pageAmount(metered.heldMicros, 'micros'),
          }),
        }),
      }}
      rows={rows}
    />
  );
}

export function kindTag(subject: string): Markup | false {
  const [kind] = subject.split('/', 1);
  return (
    /^(project|runner-class|runner|user)$/.test(kind ?? '') && (
      <span class="tag">{kind?.replace('-', ' ')}</span>
    )
  );
}

const tags = ({ subject, frozen, budget }: GroupRow): Markup => (
  <>
    {kindTag(subject)} {frozen && <span {...{ class: 'tag bad', title: frozen.reason }}>frozen</span>}{' '}
    {budget && budget.amount !== 'unlimited' && modeTag(budget.rolledOutAs ?? budget.mode)}{' '}
  </>
);

/** `+200 EUR`, or of an edit `money-month: 300.00 EUR → 900.00 EUR`. */
export function requestedText({ amount, edit, limitNow }: RequestRow): string {
  if (edit === undefined) {
    const isMoney = limitNow !== undefined && unitRow(limitNow.unit).inCurrency;
    return `+${String(amount).replace(/^\+/, '')}${isMoney ? ` ${format().currency}` : ''}`;
  }
  const row = edit.rows.find(({ field }) => field === 'amount') ?? edit.rows[0];
  if (row === undefined) return pageCount(edit.count, 'difference');
  const more = edit.count > 1 ? ` and ${edit.count - 1} more` : '';
  const what = row.field === 'amount' ? row.limit : `${row.limit} ${row.field}`;
  const [from, to] = [row.from, row.to].map((value) => fieldText(value, row.unit));
  return `${what}: ${from} → ${to}${more}`;
}
