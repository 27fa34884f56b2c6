import { placeOfSubject } from '../../../../policies/limits/cap.ts';
import type { Markup } from './markup.ts';

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
