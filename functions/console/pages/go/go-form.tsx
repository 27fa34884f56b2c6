import type { User } from '../../../core/signin/index.ts';
import { mayOpen, NAVIGATION } from '../page-access.ts';
import type { Markup } from '../parts/markup.ts';

/** Reachable pages by name. */
export const reachable = ({ roles }: Pick<User, 'roles'>) => [
  ...NAVIGATION.filter(({ href }) => mayOpen(`GET ${href}`, roles)),
  { href: '/me', text: 'My account' },
];

/** @param id - of the field: a page may have two. */
export const GoForm = ({ user, id }: { readonly user: User; readonly id: string }): Markup => (
  <form class="filters" method="get" action="/go">
    <label for={id}>
      Go to
      <input
        type="text"
        id={id}
        name="to"
        list={`${id}-pages`}
        placeholder="A page, a job, a group"
        autocomplete="off"
        maxlength={500}
      />
    </label>
    <datalist id={`${id}-pages`}>
      {reachable(user).map(({ text }) => (
        <option value={text} />
      ))}
    </datalist>
    <button class="main">Go</button>
  </form>
);
