import type { Child } from 'hono/jsx';
import type { GroupRow } from '../../../answers/groups/model.ts';
import type { ChangeRow } from '../../../core/limits/limit-changes.ts';
import type { GroupSum, UsedInMonth } from '../../../core/usage/sums.ts';
import {
  bare,
  edge,
  instant,
  limitColumns,
  modeTag,
  type PageFormat,
  pageAmount,
  pageCount,
} from './amounts.tsx';
import { hidden, List, type Markup, pathMarkup, soft, subjectHref, subjectLink, Table } from './layout.tsx';

/** Keeps the page small; the rest is in the file or on the next page. */
export const ROWS_SHOWN = 100;

/** Changes, field by field. */
export function changeTable(rows: readonly ChangeRow[], label: string, format: PageFormat): Markup {
  if (rows.length === 0) return <p class="soft">Nothing differs.</p>;
  const named = rows.filter(hasName);
  return (
    <>
      <Table
        label={label}
        columns={[
          {
            ...{ head: 'Whose', isName: true, style: 'path' },
            cell: (row) => subjectLink(row.subject, row.path ?? subjectWords(row.subject)),
          },
          { head: 'What', cell: whatText },
          { head: 'From', label: 'from', cell: (row) => valueText(row.from, row, format) },
          { head: 'To', label: 'to', cell: (row) => valueText(row.to, row, format) },
          { head: 'Effect', cell: effectTag },
        ]}
        rows={named.slice(0, ROWS_SHOWN)}
      />
      {named.length > ROWS_SHOWN && (
        <p>{soft(`${pageCount(named.length - ROWS_SHOWN, 'more difference')} not shown here.`)}</p>
      )}
    </>
  );
}

/** Ids of users are for programs; names are shown. */
const hasName = ({ field }: ChangeRow): boolean => !field.endsWith('by_user');

/** One line each, for a history. */
export function changeLines(
  rows: readonly ChangeRow[],
  format: PageFormat,
  { max, moreHref }: { readonly max: number; readonly moreHref: string },
): Markup | '' {
  const named = rows.filter(hasName);
  const lines: Child[] = named.slice(0, max).map((row) => (
    <>
      {row.path ?? subjectWords(row.subject)}: {whatText(row)}{' '}
      {row.whole !== 'added' && (
        <>
          <span class="from">{valueText(row.from, row, format)}</span> →{' '}
        </>
      )}
      {row.whole === 'removed' ? 'removed' : valueText(row.to, row, format)}
    </>
  ));
  if (named.length > max)
    lines.push(<a href={moreHref}>and {pageCount(named.length - max, 'more difference')}</a>);
  return <List of={lines} />;
}

const whatText = ({ about, limit, field }: ChangeRow): Markup => (
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

const subjectWords = (subject: string): string =>
  subject === 'instance' ? 'the whole GitLab' : subject.replace(/^groups\//, 'default of ').replace('/', ' ');

/** As limits.yaml has them. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z$/;

function valueText(
  value: ChangeRow['from'],
  { unit, field, zone = 'UTC' }: ChangeRow,
  format: PageFormat,
): Markup {
  if (value === null) return <span class="soft">none</span>;
  if (typeof value !== 'string' || !INSTANT.test(value)) return <span>{fieldText(value, unit, format)}</span>;
  const atMs = Date.parse(value);
  if (field === 'from') return edge(atMs, 'start', { zone });
  return field === 'until' ? edge(atMs, 'end', { zone }) : instant(atMs, format);
}

/** A field's value as one text: `500.00 EUR`, `enforce`, `none`. */
export const fieldText = (value: ChangeRow['from'], unit: ChangeRow['unit'], format: PageFormat): string =>
  typeof value === 'number' && unit !== undefined
    ? pageAmount(value, unit, format)
    : (value ?? 'none').toString();

const EFFECTS = { tightens: 'tightens', loosens: 'loosens', neutral: 'no effect on jobs' } as const;
const WHOLE = { added: 'new, ', removed: 'goes, ' } as const;

function effectTag({ effect, whole, field }: ChangeRow): Markup {
  const tones = {
    ...{ tightens: 'warn', neutral: '' },
    loosens: field === 'mode' && whole === undefined ? 'warn' : 'good',
  };
  return (
    <span class={`tag ${tones[effect]}`}>
      {whole && WHOLE[whole]}
      {EFFECTS[effect]}
    </span>
  );
}

interface GroupTableParts {
  /** Address of a group's subgroups. */
  readonly tree?: (groupId: number) => string;
  /** Set for the groups right below one: adds a column of this month, whose rows and rest come to what the group used. */
  readonly sum?: GroupSum | undefined;
  /** Limits lead to the form that changes them. @default false */
  readonly mayEdit?: boolean;
}

const MONTH = 'This month';

/** One line per group: a bar, with the same figures as text. */
export function groupTable(
  rows: readonly GroupRow[],
  label: string,
  format: PageFormat,
  { tree, sum, mayEdit = false }: GroupTableParts = {},
): Markup {
  const micros = ({ settledMicros, heldMicros }: UsedInMonth): number => settledMicros + heldMicros;
  const told = (used: UsedInMonth): string => bare(micros(used), 'micros');
  return (
    <Table
      label={label}
      columns={[
        {
          ...{ head: 'Whose', isName: true, style: 'path' },
          cell: (row) => (
            <>
              {subjectHref(row.subject) === undefined ? (
                row.path
              ) : (
                <a href={subjectHref(row.subject)}>{pathMarkup(row.path)}</a>
              )}{' '}
              {tags(row)}
              {tree !== undefined && row.groupId !== undefined && row.children > 0 && (
                <small>
                  <a href={tree(row.groupId)}>
                    {pageCount(row.children, 'group')} below{hidden(` ${row.path}`)}
                  </a>
                </small>
              )}
            </>
          ),
        },
        ...limitColumns<GroupRow>(
          {
            mayEdit,
            limitOf: ({ budget }) => budget,
            without: ({ metered }) => ({
              Use: soft('no budget'),
              Spent: pageAmount(metered.settledMicros, 'micros', format),
              Held: pageAmount(metered.heldMicros, 'micros', format),
            }),
          },
          format,
        ),
        ...(sum === undefined
          ? []
          : [{ head: MONTH, style: 'n', label: 'this month', cell: (row: GroupRow) => told(row.metered) }]),
      ]}
      rows={rows}
      foot={
        sum && [
          ...(rows.length > 0 && micros(sum.rest) !== 0
            ? [{ Whose: <span class="soft">{sum.restLabel}</span>, [MONTH]: told(sum.rest) }]
            : []),
          { Whose: <>Together {soft('spent and held this month')}</>, [MONTH]: told(sum.total) },
        ]
      }
    />
  );
}

/** Kind of a row that is not a group. */
export const KIND_TAGS: Readonly<Record<string, string>> = {
  project: 'project',
  'runner-class': 'runner class',
  runner: 'runner',
  user: 'user',
};

/** Tags that stand out in the list. */
function tags({ subject, frozen, budget, pool, grants, personal }: GroupRow): Markup[] {
  const kind = KIND_TAGS[subject.slice(0, subject.indexOf('/'))];
  const tag = (text: Child, tone = '', title?: string): Markup => (
    <span class={`tag ${tone}`} title={title}>
      {text}
    </span>
  );
  const all = [
    kind !== undefined && tag(kind),
    frozen && tag('frozen', 'bad', frozen.reason),
    budget !== undefined && budget.amount !== 'unlimited' && modeTag(budget.rolledOutAs ?? budget.mode),
    pool && tag('pool', '', `Its groups may use ${pool.children} limits that come to more than its own`),
    grants > 0 && tag(pageCount(grants, 'grant'), 'good'),
    personal && tag('personal'),
  ];
  return all.filter((each) => each !== undefined && each !== false).map((each) => <>{each} </>);
}
