import type { PlanSummary } from '../../../answers/plans/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { type FieldProblems, field, type Values } from '../parts/form-field.tsx';
import { Card, Done, PostForm, Table } from '../parts/layout.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageCount, shortInstant } from '../parts/page-format.tsx';
import { planDay } from './plan-words.tsx';

interface PlansShown {
  readonly plans: readonly PlanSummary[];
  readonly values: Values;
  readonly problems: FieldProblems;
  readonly done?: string | undefined;
}

/** Every plan, and a form for the next one. */
export const plansPage = (
  user: User,
  { plans, values, problems, done }: PlansShown,
  telling: PageFormat,
): Markup => (
  <ConsolePage title="Plans" at="/plans" user={user}>
    <div class="head">
      <div>
        <h1>Plans</h1>
        <p>
          Limits for a day to come, drafted beside what was used. Nothing is in force until one is adopted.
        </p>
      </div>
    </div>
    <Done text={done} />
    <Card id="plans" title="Drafts">
      {plans.length === 0 ? (
        <p>There is no plan yet. Begin one below.</p>
      ) : (
        <Table label="Plans" columns={['Plan', 'From', ['Limits planned', 'n'], 'Last changed']}>
          <tbody>
            {plans.map(({ id, name, from, amounts, changedBy, changedAtMs }) => (
              <tr>
                <th scope="row">
                  <a href={`/plans/${encodeURIComponent(id)}`}>{name}</a>
                </th>
                <td data-l="from">{planDay(from)}</td>
                <td class="n">{pageCount(amounts, 'limit')}</td>
                <td>
                  {shortInstant(changedAtMs, telling)} <small class="soft">by {changedBy}</small>
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
    <Card id="new" title="A new plan">
      <PostForm user={user} action="/plans">
        {field(
          { name: 'name', label: 'Name', required: true, max: 80, hint: 'Such as “Year 2027”' },
          values,
          problems,
        )}
        {field(
          {
            name: 'from',
            label: 'First day',
            type: 'date',
            required: true,
            short: true,
            hint: 'It has the limits of which a period begins on that day: on 1 January those per month, quarter and year.',
          },
          values,
          problems,
        )}
        <button class="main">Begin</button>
      </PostForm>
    </Card>
  </ConsolePage>
);
