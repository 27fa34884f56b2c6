import type { Markup } from './markup.ts';

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
