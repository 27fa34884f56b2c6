import type { SubjectView } from '../../../answers/groups/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { grantFormFields } from '../edit/exception-forms.ts';
import { ConsolePage } from '../frame.tsx';
import { type FieldProblems, field, problemList, type Values } from '../parts/form-field.tsx';
import { Card, PostForm } from '../parts/layout.tsx';
import { leftText, limitAmountWords, limitWords } from '../parts/limit-words.ts';
import { subjectHref } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import type { PageFormat } from '../parts/page-format.tsx';

interface AskShown {
  readonly view: SubjectView;
  readonly values: Values;
  readonly problems: FieldProblems;
  readonly others: readonly string[];
}

/** "Ask for more". */
export function askPage(
  user: User,
  { view, values, problems, others }: AskShown,
  telling: PageFormat,
): Markup {
  const fields = [
    ...grantFormFields(view.limits, view.zone),
    {
      name: 'link',
      label: 'The job it is about',
      type: 'url',
      max: 500,
      hint: 'Its address in GitLab.',
    } as const,
  ];
  const labels = new Map(fields.map(({ name, label }) => [name, label]));
  return (
    <ConsolePage title={`Ask for more for ${view.path}`} at="/requests" user={user}>
      <div class="head">
        <div>
          <h1>Ask for more for {view.path}</h1>
          <p>Users who may grant it see your request under “Requests”.</p>
        </div>
      </div>
      {problemList(problems, others, labels)}
      {view.limits.every((limit) => limit.amount === 'unlimited') ? (
        <div class="card">
          <p>
            It has no limit of its own to add to. The limits above it belong to others; ask for those there.
          </p>
          <p>
            <a class="button" href={subjectHref(view.subject) ?? '/'}>
              Back
            </a>
          </p>
        </div>
      ) : (
        <>
          <div class="card">
            <ul>
              {view.limits.map((limit) => (
                <li>
                  {limitWords(limit)}: {leftText(limit, telling)}
                  {(limit.left ?? 0) < 0 ? '' : ' left'} of {limitAmountWords(limit, telling)}
                </li>
              ))}
            </ul>
          </div>
          <PostForm user={user} class="card" action="/ask">
            <input type="hidden" name="subject" value={view.subject} />
            {fields.map((each) => field(each, values, problems))}
            <div class="actions">
              <button class="main">Send the request</button>
              <a class="button" href={subjectHref(view.subject) ?? '/'}>
                Cancel
              </a>
            </div>
          </PostForm>
        </>
      )}
    </ConsolePage>
  );
}

/** For which group. */
export const chooseGroupPage = (
  user: User,
  groups: readonly { readonly id: number; readonly path: string }[],
): Markup => (
  <ConsolePage title="Ask for more" at="/requests" user={user}>
    <div class="head">
      <h1>Ask for more</h1>
    </div>
    <Card id="which" title="For which group?">
      <form class="filters" method="get" action="/" role="search">
        <label>
          Search groups
          <input type="search" name="q" maxlength={200} />
        </label>
        <button>Search</button>
      </form>
      {groups.length > 0 && (
        <ul>
          {groups.slice(0, GROUPS_SHOWN).map(({ id, path }) => (
            <li>
              <a href={`/ask?subject=group/${id}`}>{path}</a>
            </li>
          ))}
        </ul>
      )}
      <p class="soft">Open the page of the group whose limit is in your way; “Ask for more” is at its top.</p>
    </Card>
  </ConsolePage>
);

const GROUPS_SHOWN = 100;
