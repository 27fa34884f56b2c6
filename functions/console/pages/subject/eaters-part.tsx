import type { SubjectView } from '../../../answers/groups/model.ts';
import { daySpan } from '../parts/chart-scale.ts';
import { Card } from '../parts/layout.tsx';
import { pathMarkup, subjectHref } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageAmount, percent } from '../parts/page-format.tsx';
import { classLink, otherClasses } from './usage-part.tsx';

/** Rows with their own part; more cannot be distinguished. */
const SHOWN_MAX = 6;

interface Eater {
  readonly name: Markup | string;
  readonly micros: number;
}

interface Stack {
  readonly id: string;
  readonly title: string;
  readonly days: string;
  /** Most first. */
  readonly eaters: readonly Eater[];
  /** The total. */
  readonly together: number;
  /** Label of the rest. */
  readonly others: string;
}

/** One bar each for subgroups, projects and runner classes, with figures as text. */
export function eatersPart(view: SubjectView, telling: PageFormat): Markup | '' {
  const stacks = stacksOf(view).filter(({ eaters, together }) => together > 0 && eaters.length > 0);
  if (stacks.length === 0) return '';
  return (
    <Card id="eaters" title="Top users of the budget">
      <div class={stacks.length > 1 ? 'two' : ''}>{stacks.map((stack) => drawn(stack, telling))}</div>
    </Card>
  );
}

function stacksOf({ usage, subject, children, childrenSum }: SubjectView): readonly Stack[] {
  const { topProjects, runnerClasses, settledMicros, heldMicros, fromDay, toDay } = usage;
  const inUsage = { days: daySpan(usage), together: settledMicros + heldMicros };
  const sinceDay = children[0]?.metered.sinceDay ?? fromDay;
  const { total } = childrenSum ?? { total: { settledMicros: 0, heldMicros: 0 } };
  return [
    {
      ...{ id: 'by-group', title: 'Groups right below', days: daySpan({ fromDay: sinceDay, toDay }) },
      eaters: mostFirst(
        children.map(({ subject, path, metered }) => ({
          name: <a href={subjectHref(subject)}>{pathMarkup(path)}</a>,
          micros: metered.settledMicros + metered.heldMicros,
        })),
      ),
      together: total.settledMicros + total.heldMicros,
      others: 'Others, and its own projects',
    },
    {
      ...{ id: 'by-project', title: 'Projects', ...inUsage, others: 'Other projects' },
      eaters: mostFirst(
        topProjects.map(({ projectId, path, micros }) => ({
          name: <a href={`/projects/${projectId}`}>{pathMarkup(path)}</a>,
          micros,
        })),
      ),
    },
    {
      ...{ id: 'by-class', title: 'Runner classes', ...inUsage, others: otherClasses(subject) },
      eaters: mostFirst(
        runnerClasses.map(({ name, micros }) => ({
          name: classLink(name, subject),
          micros,
        })),
      ),
    },
  ];
}

const mostFirst = (eaters: readonly Eater[]): readonly Eater[] =>
  eaters.filter(({ micros }) => micros > 0).sort((a, b) => b.micros - a.micros);

function drawn({ id, title, days, eaters, together, others }: Stack, telling: PageFormat): Markup {
  const shown = eaters.slice(0, SHOWN_MAX);
  const rest = together - shown.reduce((sum, { micros }) => sum + micros, 0);
  // Groups that were moved here with their usage have more than the group itself.
  const whole = Math.max(together, together - rest);
  const parts = [...shown, ...(rest > 0 ? [{ name: <span class="soft">{others}</span>, micros: rest }] : [])];
  let before = 0;
  const placed = parts.map((part, index) => {
    const from = before;
    before += part.micros;
    return { ...part, from, style: index < shown.length ? `eat${index}` : 'eat-rest' };
  });
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>
        {title} <small class="soft">{days}</small>
      </h3>
      <svg class="eaters" aria-hidden="true">
        {placed.map(({ micros, from, style }) => (
          <rect class={style} x={share(from, whole)} width={share(micros, whole)} height="100%" />
        ))}
        {placed.slice(1).map(({ from }) => (
          <rect class="edge" x={`calc(${share(from, whole)} - 1px)`} width="2" height="100%" />
        ))}
      </svg>
      <table class="eats">
        <caption class="hidden">
          {title}, most first, {days}
        </caption>
        <tbody>
          {placed.map(({ name, micros, style }) => (
            <tr>
              <th scope="row" class="path">
                <svg aria-hidden="true">
                  <rect class={style} width="100%" height="100%" />
                </svg>
                {name}
              </th>
              <td class="n">{pageAmount(micros, 'micros', telling)}</td>
              <td class="n">{percent(micros, whole)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const share = (part: number, whole: number): string => `${Math.round((part / whole) * 10_000) / 100}%`;
