import type { Child, PropsWithChildren } from 'hono/jsx';
import type { HtmlEscapedString } from 'hono/utils/html';
import { placeOfSubject } from '../../../../policies/limits/cap.ts';
import { format } from './format.ts';

/** Output of JSX: everything is escaped except `raw`. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

export const hidden = (text: string): Markup => <span class="hidden">{text}</span>;
export const soft = (...parts: Child[]): Markup => <small class="soft">{parts}</small>;
export const joined = (parts: readonly Child[], separator = ', '): Markup[] =>
  parts.map((part, index) => (
    <>
      {index > 0 && separator}
      {part}
    </>
  ));

type With<Parts> = PropsWithChildren<Readonly<Parts>>;

export const List = ({ of, max = of.length }: With<{ of: readonly Child[]; max?: number | undefined }>) =>
  of.length > 0 && (
    <ul>
      {of.slice(0, max).map((line) => (
        <li>{line}</li>
      ))}
      {of.length > max && <li>and {of.length - max} more</li>}
    </ul>
  );

type CardParts = With<{ id: string; title: Child; aside?: Child }>;

export const Card = ({ id, title, aside, children }: CardParts): Markup => (
  <section class="card" aria-labelledby={id}>
    <h2 id={id}>
      <span>{title}</span>
      {aside !== undefined && soft(aside)}
    </h2>
    {children}
  </section>
);

export const Plain = ({ children }: PropsWithChildren): Markup => (
  <div class="card">
    <p>{children}</p>
  </div>
);

type NoteParts = With<{
  tone?: 'good' | 'warn' | 'bad';
  role?: 'alert' | 'status';
  lines?: readonly Child[];
  max?: number;
}>;

export const Note = ({ tone, role, lines = [], max, children }: NoteParts): Markup => (
  <div class={tone === undefined ? 'note' : `note ${tone}`} role={role}>
    <p>{children}</p>
    <List of={lines} max={max} />
  </div>
);

export function Done({ text }: { readonly text: string | undefined }): Markup | '' {
  if (text === undefined) return '';
  const edit = /^Saved as edit (\d+)\./.exec(text)?.[1];
  return (
    <Note tone="good" role="status">
      {text} {edit !== undefined && <a href={`/history/${edit}/undo`}>Undo edit</a>}
    </Note>
  );
}

type Fact = readonly [name: string, value: Child, tone?: string];

/** Names and values; unknown values are left out. @param style - `figures` are large numbers */
export const Facts = ({ of, style = 'facts' }: With<{ of: readonly Fact[]; style?: string }>): Markup => (
  <dl class={style}>
    {of
      .filter(([, value]) => value !== undefined && value !== false && value !== '')
      .map(([name, value, tone]) => (
        <div>
          <dt>{name}</dt>
          <dd class={tone}>{value}</dd>
        </div>
      ))}
  </dl>
);

type Cell<Row> = (row: Row) => Child;

export interface Column<Row> {
  readonly cell: Cell<Row>;
  /** `n` is a number, `wide` is left out on narrow pages, `full` takes a line of its own there. */
  readonly style?: string;
  readonly tone?: (row: Row) => string;
}

/** By heading. */
export type Columns<Row> = Readonly<Record<string, Cell<Row> | Column<Row>>>;

/** The heading of a column of links, which is read out only. */
export const DO = 'Do';

interface TableParts<Row> {
  readonly label: string;
  readonly columns: Columns<Row>;
  readonly rows: readonly Row[];
  readonly foot?: readonly (Readonly<Record<string, Child>> | false)[] | undefined;
}

/** The first column names the row. Scrolls where it is too wide; on a narrow page a row is a small list. */
export function Table<Row>({ label, columns: byHead, rows, foot = [] }: TableParts<Row>): Markup {
  const columns = Object.entries(byHead).map(([head, column]) => ({
    ...{ head, ...(typeof column === 'function' ? { cell: column } : column) },
  }));
  type Listed = Column<Row> & { readonly head: string };
  const cell = ({ head, style }: Listed, index: number, content: Child, tone = ''): Markup => {
    if (index === 0)
      return (
        <th scope="row" class="path">
          {content}
        </th>
      );
    const isLabelled = content !== undefined && content !== '' && style !== 'bar-cell' && head !== DO;
    return (
      <td
        class={[style, tone].filter(Boolean).join(' ') || undefined}
        data-l={isLabelled ? head.toLowerCase() : undefined}
      >
        {content}
      </td>
    );
  };
  return (
    <div class="scroll" role="group" aria-label={label} tabindex={0}>
      <table class="stack">
        <caption class="hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ head, style }) => (
              <th scope="col" class={style}>
                {head === DO ? hidden(head) : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column, index) => cell(column, index, column.cell(row), column.tone?.(row)))}
            </tr>
          ))}
        </tbody>
        {foot.some(Boolean) && (
          <tbody>
            {foot.map(
              (cells) =>
                cells && <tr>{columns.map((column, index) => cell(column, index, cells[column.head]))}</tr>,
            )}
          </tbody>
        )}
      </table>
    </div>
  );
}

type PostFormParts = With<{
  action: string;
  id?: string;
  class?: string;
  enctype?: 'multipart/form-data';
}>;

/** A form that changes data: it carries the CSRF token. */
export const PostForm = ({ children, ...attributes }: PostFormParts): Markup => (
  <form method="post" {...attributes}>
    <input type="hidden" name="csrf" value={format().user.csrfToken} />
    {children}
  </form>
);

export const button = (href: string, text: Child, rest?: string): Markup => (
  <a class="button" href={href}>
    {text}
    {rest !== undefined && hidden(rest)}
  </a>
);

type PageLinkTargets = With<{ previous?: string | undefined; next: string | undefined }>;

export const PageLinks = ({ previous, next, children }: PageLinkTargets): Markup => (
  <nav class="pages" aria-label="Pages">
    <span>{children}</span>
    <span class="actions">
      {previous !== undefined && button(previous, 'Previous')}
      {next !== undefined && button(next, 'Next')}
    </span>
  </nav>
);

const KIND_PATHS: Readonly<Record<string, string>> = {
  group: 'groups',
  project: 'projects',
  'runner-class': 'runner-classes',
};

/** The page of a subject, of a cap that of its group; runners, users and personal namespaces have none. */
export function subjectHref(of: string): string | undefined {
  const subject = placeOfSubject(of);
  if (subject === 'instance') return '/instance';
  const slash = subject.indexOf('/');
  const folder = KIND_PATHS[subject.slice(0, slash)];
  return folder === undefined ? undefined : `/${folder}/${encodeURIComponent(subject.slice(slash + 1))}`;
}

export const subjectOfPath = (folder: string, name: string): string =>
  `${Object.keys(KIND_PATHS).find((kind) => KIND_PATHS[kind] === folder)}/${name}`;

export const subjectLink = (subject: string, text: Child): Child => {
  const href = subjectHref(subject);
  return href === undefined ? text : <a href={href}>{text}</a>;
};

/** `/edit?kind=set&subject=group%2F101`; what is undefined is left out. */
export function address(
  path: string,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

const MAIL = /^[^\s@,;?&]+@[^\s@,;?&]+\.[^\s@,;?&]+$/;

export const contactLink = (contact: string): Markup | string =>
  MAIL.test(contact) ? (
    <a href={`mailto:${encodeURIComponent(contact)}`}>{contact}</a>
  ) : (
    outside(contact, contact)
  );

/** A link that leads away from here; only to web addresses, because users write them. */
export const outside = (href: string | undefined, text: string): Markup | string =>
  href !== undefined && /^https?:\/\/[^\s]+$/.test(href) ? (
    <a href={href} rel="noreferrer noopener">
      {text}
    </a>
  ) : (
    text
  );

export const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Highlights a path's last part, which distinguishes neighbours. */
export const pathMarkup = (path: string): Markup => (
  <>
    <span class="soft">{path.slice(0, path.lastIndexOf('/') + 1)}</span>
    {lastOf(path)}
  </>
);

export const statementHref = (subject: string, month: string, end = ''): string =>
  address(`/statements/${encodeURIComponent(month)}${end}`, { group: subject.replace(/^group\//, '') });

const TABS = { '/': 'By group', '/budgets': 'Every limit' } as const;

export const BudgetTabs = ({ at }: { readonly at: keyof typeof TABS }): Markup => (
  <nav class="tabs" aria-label="Budgets">
    <ul>
      {Object.entries(TABS).map(([href, text]) => (
        <li>
          <a href={href} aria-current={href === at ? 'page' : undefined}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

type DaysFormParts = With<{
  action: string;
  only: Readonly<Record<string, number | undefined>>;
  choices: readonly number[];
  days: number;
}>;

export const DaysForm = ({ action, only, choices, days }: DaysFormParts) => (
  <form class="filters" method="get" action={action} data-at-once>
    {Object.entries(only).map(
      ([name, id]) => id !== undefined && <input type="hidden" name={name} value={id} />,
    )}
    {choice(
      'Period, days',
      'days',
      String(days),
      choices.map((each) => [String(each), each === 1 ? 'today' : `last ${each}`]),
    )}
    <button>Show</button>
  </form>
);

export const searchField = (
  label: string,
  search: string | undefined,
  placeholder: string,
  name = 'q',
): Markup => (
  <label>
    {label}
    <input type="search" name={name} value={search ?? ''} maxlength={255} placeholder={placeholder} />
  </label>
);

export type ChoiceList = readonly (readonly [value: string, text: string])[];

export const choice = (
  label: string,
  name: string,
  chosen: string | undefined,
  choices: ChoiceList,
): Markup => (
  <label>
    {label}
    <select name={name}>
      {choices.map(([value, text]) => (
        <option value={value} selected={value === (chosen ?? '')}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
