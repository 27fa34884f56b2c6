import type { BudgetsQuery } from '../../../answers/budgets/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { VIEW_NAME_CHARACTERS_MAX, type ViewList } from '../../../core/views/index.ts';
import { budgetTabs, type TabLink } from '../parts/budget-tabs.tsx';
import { PostForm } from '../parts/layout.tsx';
import type { Markup } from '../parts/markup.ts';
import { listAddress, listQuery } from './budgets-asked.ts';

/** The views somebody has, and whether they may keep some for everybody. */
export interface KnownViews {
  readonly own: ViewList;
  readonly everybody: ViewList;
  readonly mayShare: boolean;
  /** Why the last one was not kept. */
  readonly problem?: string;
}

/** All limits, and each view; everybody's come before one's own. */
export function viewTabs(asked: BudgetsQuery, views: KnownViews | undefined): readonly TabLink[] {
  const here = listQuery(asked);
  const saved = [...(views?.everybody.views ?? []), ...(views?.own.views ?? [])];
  // Two views of the same are one place.
  const current = saved.find(({ query }) => query === here);
  return [
    ...budgetTabs(here === '' && current === undefined ? 'limits' : 'view'),
    ...saved.map((view) => ({ href: listAddress(view.query), text: view.name, current: view === current })),
  ];
}

/** To give what is shown a name, and to put names away. */
export const viewsPart = (user: User, asked: BudgetsQuery, views: KnownViews): Markup => (
  <details class="views" id="views" open={views.problem !== undefined}>
    <summary>Keep this as a view</summary>
    <p class="soft">A view is what you chose above, with a name: a tab of this page.</p>
    <PostForm user={user} action="/budgets/views" class="filters">
      <input type="hidden" name="query" value={listQuery(asked)} />
      <input type="hidden" name="step" value="keep" />
      <label>
        Name
        <input
          type="text"
          name="name"
          required
          maxlength={VIEW_NAME_CHARACTERS_MAX}
          placeholder="Projects in trouble"
          aria-invalid={views.problem === undefined ? undefined : 'true'}
          aria-describedby={views.problem === undefined ? undefined : 'view-problem'}
        />
      </label>
      {views.mayShare && (
        <label class="check">
          <input type="checkbox" name="of" value="everybody" />
          For everybody
        </label>
      )}
      <button>Keep this view</button>
    </PostForm>
    {views.problem !== undefined && (
      <strong class="problem" id="view-problem" role="alert">
        {views.problem}
      </strong>
    )}
    {list(user, 'own', views.own)}
    {list(user, 'everybody', views.everybody, views.mayShare)}
  </details>
);

const list = (user: User, of: 'own' | 'everybody', { views, first }: ViewList, may = true): Markup | '' =>
  views.length === 0 || !may ? (
    ''
  ) : (
    <>
      <h3>{of === 'own' ? 'Your views' : 'Everybody’s views'}</h3>
      <ul class="timeline">
        {views.map(({ name, query }) => (
          <li>
            <PostForm user={user} action="/budgets/views" class="actions">
              <input type="hidden" name="of" value={of} />
              <input type="hidden" name="name" value={name} />
              <input type="hidden" name="query" value={query} />
              <a href={listAddress(query)}>{name}</a>
              {name === first ? (
                <button name="step" value="last">
                  Open with all limits again<span class="hidden"> instead of {name}</span>
                </button>
              ) : (
                <button name="step" value="first">
                  Open with it<span class="hidden">: {name}</span>
                </button>
              )}
              <button class="danger" name="step" value="drop">
                Delete<span class="hidden"> {name}</span>
              </button>
            </PostForm>
          </li>
        ))}
      </ul>
    </>
  );
