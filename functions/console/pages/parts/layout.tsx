/** Components of pages: each looks and reads the same everywhere. */
import type { Child, PropsWithChildren } from 'hono/jsx';
import type { User } from '../../../core/signin/index.ts';
import type { Markup } from './markup.ts';

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
