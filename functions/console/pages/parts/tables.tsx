import type { GroupRow } from '../../../answers/groups/model.ts';
import type { ChangeRow } from '../../../core/limits/limit-changes.ts';
import type { GroupSum, UsedInMonth } from '../../../core/usage/sums.ts';
import {
  bare,
  edge,
  instant,
  modeTag,
  type PageFormat,
  pageAmount,
  pageCount,
  runsOut,
  STANDING_COLUMNS,
  standingCells,
} from './amounts.tsx';
import { type Markup, pathMarkup, subjectHref, subjectLink, Table, type TableColumn } from './layout.tsx';

/** Keeps the page small; the rest is in the file or on the next page. */
export const ROWS_SHOWN = 100;

/** Changes, field by field. */
export function changeTable(rows: readonly ChangeRow[], caption: string, telling: PageFormat): Markup {
  if (rows.length === 0) return <p class="soft">Nothing differs.</p>;
  const named = rows.filter(hasName);
  const shown = named.slice(0, ROWS_SHOWN);
  return (
    <>
      <Table label={caption} columns={['Whose', 'What', 'From', 'To', 'Effect']}>
        <tbody>
          {shown.map((row) => (
            <tr>
              <th scope="row" class="path">
                {subjectLink(row.subject, row.path ?? subjectWords(row.subject))}
              </th>
              <td>{whatText(row)}</td>
              <td data-l="from">{valueText(row.from, row, telling)}</td>
              <td data-l="to">{valueText(row.to, row, telling)}</td>
              <td>{effectTag(row)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
      {named.length > ROWS_SHOWN && (
        <p>
          <small>{pageCount(named.length - ROWS_SHOWN, 'more difference')} not shown here.</small>
        </p>
      )}
    </>
  );
}

/** Ids of users are for programs; names are shown. */
const hasName = ({ field }: ChangeRow): boolean => !field.endsWith('by_user');

/** One line each, for a history. */
export const changeLines = (
  rows: readonly ChangeRow[],
  telling: PageFormat,
  { max, moreHref }: { readonly max: number; readonly moreHref: string },
): Markup => (
  <ul>
    {rows
      .filter(hasName)
      .slice(0, max)
      .map((row) => (
        <li>
          {row.path ?? subjectWords(row.subject)}: {whatText(row)}{' '}
          {row.whole === 'added' ? (
            ''
          ) : (
            <>
              <span class="from">{valueText(row.from, row, telling)}</span> →{' '}
            </>
          )}
          {row.whole === 'removed' ? 'removed' : valueText(row.to, row, telling)}
        </li>
      ))}
    {rows.filter(hasName).length > max && (
      <li>
        <a href={moreHref}>and {pageCount(rows.filter(hasName).length - max, 'more difference')}</a>
      </li>
    )}
  </ul>
);

const whatText = (row: ChangeRow): Markup =>
  row.about === 'limit' ? (
    <>
      <code>{row.limit}</code> {fieldWords(row.field)}
    </>
  ) : (
    <>
      {ABOUT[row.about]}
      {row.limit !== '' && (
        <>
          {' '}
          <code>{row.limit}</code>
        </>
      )}{' '}
      {fieldWords(row.field)}
    </>
  );

const ABOUT: Readonly<Record<Exclude<ChangeRow['about'], 'limit'>, string>> = {
  grant: 'Grant on',
  freeze: 'Freeze',
  breakglass: 'Break-glass',
  rollout: 'Rollout of',
  document: 'All limits',
};

const fieldWords = (field: string): string => field.replaceAll('_', ' ');

const subjectWords = (subject: string): string =>
  subject === 'instance' ? 'the whole GitLab' : subject.replace(/^groups\//, 'default of ').replace('/', ' ');

/** As limits.yaml has them. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z$/;

function valueText(
  value: ChangeRow['from'],
  { unit, field, zone = 'UTC' }: ChangeRow,
  telling: PageFormat,
): Markup {
  if (value === null) return <span class="soft">none</span>;
  if (typeof value === 'number' && unit !== undefined)
    return <span class="n">{pageAmount(value, unit, telling)}</span>;
  if (typeof value !== 'string' || !INSTANT.test(value)) return <>{String(value)}</>;
  const atMs = Date.parse(value);
  if (field === 'from') return edge(atMs, 'start', { zone });
  return field === 'until' ? edge(atMs, 'end', { zone }) : instant(atMs, telling);
}

/** A field's value as one text: `500.00 EUR`, `enforce`, `none`. */
export const fieldText = (value: ChangeRow['from'], unit: ChangeRow['unit'], telling: PageFormat): string =>
  typeof value === 'number' && unit !== undefined
    ? pageAmount(value, unit, telling)
    : (value ?? 'none').toString();

function effectTag({ effect, whole, field }: ChangeRow): Markup {
  const word = whole === undefined ? '' : whole === 'added' ? 'new, ' : 'goes, ';
  switch (effect) {
    case 'tightens':
      return <span class="tag warn">{word}tightens</span>;
    case 'loosens':
      return (
        <span class={`tag ${field === 'mode' && whole === undefined ? 'warn' : 'good'}`}>{word}loosens</span>
      );
    case 'neutral':
      return <span class="tag">{word}no effect on jobs</span>;
  }
}

interface GroupTableParts {
  /** Address of a group's subgroups. */
  readonly tree?: (groupId: number) => string;
  /** Set for the groups right below one: adds a column of this month, whose rows and rest come to what the group used. */
  readonly sum?: GroupSum | undefined;
  /** Limits lead to the form that changes them. @default false */
  readonly mayEdit?: boolean;
}

/** One line per group: a bar, with the same figures as text. */
export const groupTable = (
  rows: readonly GroupRow[],
  caption: string,
  telling: PageFormat,
  parts: GroupTableParts = {},
): Markup => (
  <Table label={caption} columns={[...STANDING_COLUMNS, ...(parts.sum === undefined ? [] : [MONTH])]}>
    <tbody>{rows.map((row) => groupLine(row, telling, parts))}</tbody>
    {sumRows(rows, parts.sum)}
  </Table>
);

const MONTH: TableColumn = ['This month', 'n'];

/** Nothing where all of it is 0. */
function sumRows(rows: readonly GroupRow[], sum: GroupSum | undefined): Markup | '' {
  if (sum === undefined) return '';
  const { rest, restLabel, total } = sum;
  return (
    <tbody>
      {rows.length > 0 && micros(rest) !== 0 && sumRow(<span class="soft">{restLabel}</span>, rest)}
      {sumRow(
        <>
          Together <small class="soft">spent and held this month</small>
        </>,
        total,
      )}
    </tbody>
  );
}

const sumRow = (label: Markup, used: UsedInMonth): Markup => (
  <tr>
    <th scope="row">{label}</th>
    <td class="bar-cell" />
    {WIDE_BETWEEN.map(() => (
      <td class="n wide" />
    ))}
    <td class="wide" />
    <td class="wide" />
    {monthCell(used)}
  </tr>
);

/** Used, Spent, Held, Limit: what budgets count adds up to nothing, each has a period of its own. */
const WIDE_BETWEEN = [1, 2, 3, 4] as const;

const monthCell = (used: UsedInMonth): Markup => (
  <td class="n" data-l="this month">
    {bare(micros(used), 'micros')}
  </td>
);

const micros = ({ settledMicros, heldMicros }: UsedInMonth): number => settledMicros + heldMicros;

function groupLine(row: GroupRow, telling: PageFormat, { tree, mayEdit, sum }: GroupTableParts): Markup {
  const month = sum === undefined ? '' : monthCell(row.metered);
  const below =
    tree !== undefined && row.groupId !== undefined && row.children > 0 ? (
      <small>
        <a href={tree(row.groupId)}>
          {pageCount(row.children, 'group')} below<span class="hidden"> {row.path}</span>
        </a>
      </small>
    ) : (
      ''
    );
  const name = (
    <th scope="row" class="path">
      {link(row)} {tags(row)}
      {below}
    </th>
  );
  const { budget } = row;
  if (budget === undefined)
    return (
      <tr>
        {name}
        {meteredCells(row, telling)}
        {month}
      </tr>
    );
  return (
    <tr>
      {name}
      {standingCells(budget, telling, mayEdit === true)}
      <td class="ro">
        {budget.amount === 'unlimited' ? <span class="soft">never</span> : runsOut(budget, telling.nowMs)}
      </td>
      {month}
    </tr>
  );
}

const link = ({ subject, path }: GroupRow): Markup | string =>
  subject === 'instance' ? (
    <a href="/instance">{path}</a>
  ) : subject.startsWith('group/') || subject.startsWith('project/') ? (
    <a href={subjectHref(subject)}>{pathMarkup(path)}</a>
  ) : (
    subjectLink(subject, path)
  );

/** Kind of a row that is not a group. */
export const KIND_TAGS: Readonly<Record<string, string>> = {
  project: 'project',
  'runner-class': 'runner class',
  runner: 'runner',
  user: 'user',
};

function meteredCells({ metered }: GroupRow, telling: PageFormat): Markup {
  const spent = pageAmount(metered.settledMicros, 'micros', telling);
  const held = pageAmount(metered.heldMicros, 'micros', telling);
  return (
    <>
      <td class="bar-cell">
        <small class="soft">
          no budget<span class="hidden">, cost this month {spent}</span>
        </small>
      </td>
      <td class="n wide">–</td>
      <td class="n wide">{spent}</td>
      <td class="n wide">{held}</td>
      <td class="n wide">–</td>
      <td class="n wide">–</td>
      <td class="soft wide">–</td>
    </>
  );
}

/** Tags that stand out in the list. */
function tags({ subject, frozen, budget, pool, grants, personal }: GroupRow): Markup[] {
  const kind = KIND_TAGS[subject.slice(0, subject.indexOf('/'))];
  const all = [
    kind !== undefined && <span class="tag">{kind}</span>,
    frozen && (
      <span class="tag bad" title={frozen.reason}>
        frozen
      </span>
    ),
    budget !== undefined && budget.amount !== 'unlimited' && modeTag(budget.rolledOutAs ?? budget.mode),
    pool && (
      <span class="tag" title={`Its groups may use ${pool.children} limits that come to more than its own`}>
        pool
      </span>
    ),
    grants > 0 && <span class="tag good">{pageCount(grants, 'grant')}</span>,
    personal && <span class="tag">personal</span>,
  ];
  return all.filter((tag) => tag !== undefined && tag !== false).map((tag) => <>{tag} </>);
}
