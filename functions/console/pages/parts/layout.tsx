import type { Child, PropsWithChildren } from 'hono/jsx';
import type { HtmlEscapedString } from 'hono/utils/html';
import { placeOfSubject } from '../../../../policies/limits/cap.ts';
import type { User } from '../../../core/signin/model.ts';

/** Output of JSX: everything is escaped except `raw`. */
export type Markup = HtmlEscapedString | Promise<HtmlEscapedString>;

// Components of pages: each looks and reads the same everywhere.

/** A part of a page under a heading. @param id - of the heading, by which links and readers find the part */
export const Card = ({ id, title, children }: PropsWithChildren<{ id: string; title: Child }>): Markup => (
  <section class="card" aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

/** The way up from here. */
export const Crumbs = ({ children }: PropsWithChildren): Markup => (
  <nav class="crumbs" aria-label="Above">
    <ol>{children}</ol>
  </nav>
);

/** Result of the previous page. */
export const Done = ({ text }: { readonly text: string | undefined }): Markup | '' =>
  text === undefined ? (
    ''
  ) : (
    <div class="note good" role="status">
      <p>
        {text}{' '}
        {savedEdit(text) !== undefined && <a href={`/history/${savedEdit(text)}/undo`}>Take it back</a>}
      </p>
    </div>
  );

/** The number of the edit that was saved, from what is said of it. */
const savedEdit = (text: string): string | undefined => /^Saved as edit (\d+)\./.exec(text)?.[1];

/** An edit that was sent on without the box that confirms it. */
export const NotSaved = ({ why }: { readonly why: string }): Markup => (
  <div class="note bad" role="alert">
    <p>
      <strong>Not saved:</strong> {why}.
    </p>
  </div>
);

/** A line of a list of facts; nothing where it is not known. */
export const Fact = ({ name, children }: PropsWithChildren<{ name: string }>): Markup | '' =>
  children === undefined ? (
    ''
  ) : (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );

/** Its heading, or heading and class: `n` is a number, `wide` is not there on narrow pages. */
export type TableColumn = string | readonly [heading: Child, style?: string];

export const Columns = ({ of }: { readonly of: readonly TableColumn[] }): Markup => (
  <thead>
    <tr>
      {of.map((column) => {
        const [heading, style] = typeof column === 'string' ? [column] : column;
        return (
          <th scope="col" class={style}>
            {heading}
          </th>
        );
      })}
    </tr>
  </thead>
);

interface TableParts {
  readonly label: string;
  /** Set if it says more than the label. */
  readonly caption?: string;
  readonly columns: readonly TableColumn[];
}

/** Scrolls by itself where it is too wide, and shows a line as a small list where the page is narrow. */
export const Table = ({
  label,
  caption = label,
  columns,
  children,
}: PropsWithChildren<TableParts>): Markup => (
  <div class="scroll" role="group" aria-label={label} tabindex={0}>
    <table class="stack">
      <caption class="hidden">{caption}</caption>
      <Columns of={columns} />
      {children}
    </table>
  </div>
);

/** A form that changes data: it carries the CSRF token. */
export const PostForm = ({ user, children, ...attributes }: PropsWithChildren<PostFormParts>): Markup => (
  <form method="post" {...attributes}>
    <input type="hidden" name="csrf" value={user.csrfToken} />
    {children}
  </form>
);

interface PostFormParts {
  readonly user: User;
  readonly action: string;
  readonly id?: string;
  readonly class?: string;
  readonly enctype?: 'multipart/form-data';
}

/** Which rows of how many these are, and the way to the others. */
export const PageLinks = ({ previous, next, children }: PropsWithChildren<PageLinkTargets>): Markup => (
  <nav class="pages" aria-label="Pages">
    <span>{children}</span>
    <span class="actions">
      {previous !== undefined && (
        <a class="button" rel="prev" href={previous}>
          Previous
        </a>
      )}
      {next !== undefined && (
        <a class="button" rel="next" href={next}>
          Next
        </a>
      )}
    </span>
  </nav>
);

interface PageLinkTargets {
  readonly previous?: string | undefined;
  readonly next: string | undefined;
}

const KIND_PATHS: Readonly<Record<string, string>> = {
  group: 'groups',
  project: 'projects',
  'runner-class': 'runner-classes',
};

/** The page of a subject, of a cap that of its place; undefined: it has none (runners, users, patterns, personal namespaces). */
export function subjectHref(of: string): string | undefined {
  const subject = placeOfSubject(of);
  if (subject === 'instance') return '/instance';
  const slash = subject.indexOf('/');
  const folder = KIND_PATHS[subject.slice(0, slash)];
  return folder === undefined ? undefined : `/${folder}/${encodeURIComponent(subject.slice(slash + 1))}`;
}

/** `group/101` of `groups` and `101`. */
export function subjectOfPath(folder: string, name: string): string | undefined {
  const kind = Object.entries(KIND_PATHS).find(([, path]) => path === folder)?.[0];
  return kind === undefined ? undefined : `${kind}/${name}`;
}

export const subjectLink = (subject: string, text: string): Markup | string => {
  const href = subjectHref(subject);
  return href === undefined ? text : <a href={href}>{text}</a>;
};

/** `/edit?kind=set&subject=group%2F101`; what is undefined is left out. */
export function address(
  path: string,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  const text = asked.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** To the form that changes a limit. */
export const limitEditLink = (subject: string, limit: string, amount: Markup | string): Markup => (
  <a href={address('/edit', { kind: 'set', subject, limit })}>
    {amount}
    <span class="hidden">, change it</span>
  </a>
);

const MAIL = /^[^\s@,;?&]+@[^\s@,;?&]+\.[^\s@,;?&]+$/;

export const isMail = (contact: string | undefined): contact is string =>
  contact !== undefined && MAIL.test(contact);

/** A contact as people write it: an address to mail or to open, or just its text. */
export function contactLink(contact: string): Markup | string {
  if (isMail(contact)) return <a href={`mailto:${encodeURIComponent(contact)}`}>{contact}</a>;
  return outside(contact, contact);
}

/** A link that leads away from here; only to https addresses, because users write them. */
export const outside = (href: string | undefined, text: string): Markup | string =>
  href !== undefined && /^https?:\/\/[^\s]+$/.test(href) ? (
    <a href={href} rel="noreferrer noopener">
      {text}
    </a>
  ) : (
    text
  );

/** Highlights a path's last part, which distinguishes neighbours. */
export function pathMarkup(path: string): Markup | string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? (
    path
  ) : (
    <>
      <span class="soft">{path.slice(0, slash + 1)}</span>
      {path.slice(slash + 1)}
    </>
  );
}

/** A closed month of `group/101` or of the whole GitLab; `end` names a file of it. */
export const statementHref = (subject: string, month: string, end = ''): string =>
  address(`/statements/${encodeURIComponent(month)}${end}`, { group: subject.replace(/^group\//, '') });

interface TabLink {
  readonly href: string;
  readonly text: string;
  readonly current: boolean;
}

/** Ways to look at the same. */
export const Tabs = ({ label, of }: { readonly label: string; readonly of: readonly TabLink[] }): Markup => (
  <nav class="tabs" aria-label={label}>
    <ul>
      {of.map(({ href, text, current }) => (
        <li>
          <a href={href} aria-current={current ? 'page' : undefined}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

/** Budgets by whose they are, or limit by limit. */
export const budgetTabs = (at: 'groups' | 'limits'): readonly TabLink[] => [
  { href: '/', text: 'By group', current: at === 'groups' },
  { href: '/budgets', text: 'Every limit', current: at === 'limits' },
];

/** Over how many days a page counts, chosen from a few. */
interface DaysFormProps {
  /** The page, such as `/coverage`. */
  readonly action: string;
  /** Filters of the page, by field name: `group`, `project`. */
  readonly only: Readonly<Record<string, number | undefined>>;
  readonly choices: readonly number[];
  readonly days: number;
}

export const DaysForm = ({ action, only, choices, days }: DaysFormProps) => (
  <form class="filters" method="get" action={action} data-at-once>
    {Object.entries(only).map(
      ([name, id]) => id !== undefined && <input type="hidden" name={name} value={id} />,
    )}
    <label>
      Days
      <select name="days">
        {choices.map((each) => (
          <option value={each} selected={each === days}>
            {each === 1 ? 'today' : `the last ${each}`}
          </option>
        ))}
      </select>
    </label>
    <button>Show</button>
  </form>
);

/** Fields of a form of filters: each stands in its label. */
export const searchField = (label: string, search: string | undefined, placeholder: string): Markup => (
  <label>
    {label}
    <input type="search" name="q" value={search ?? ''} maxlength={200} placeholder={placeholder} />
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
