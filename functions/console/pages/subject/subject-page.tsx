import type { SubjectView } from '../../../answers/groups/model.ts';
import { poolText } from '../../../answers/status/texts.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { BAR_KEY } from '../parts/bar.tsx';
import { groupTable } from '../parts/group-table.tsx';
import { historyPart } from '../parts/history-part.tsx';
import { Card, Crumbs, Done } from '../parts/layout.tsx';
import { limitWords } from '../parts/limit-words.ts';
import { address, subjectLink } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageAmount, pageCount } from '../parts/page-format.tsx';
import { eatersPart } from './eaters-part.tsx';
import { freezeNotes, grantsPart } from './exceptions-part.tsx';
import { limitsPart } from './limits-part.tsx';
import { mainLimitCard } from './main-limit-card.tsx';
import { rejectionsPart, usagePart, usageSentence } from './usage-part.tsx';

interface SubjectShown {
  readonly view: SubjectView;
  /** Result text at the top. */
  readonly done: string | undefined;
}

export function subjectPage(user: User, { view, done }: SubjectShown, telling: PageFormat): Markup {
  const { burnUp, limits, children, childCount, subject } = view;
  const main = limits.find(({ id }) => id === burnUp?.limit) ?? limits.find(({ inForce }) => inForce);
  return (
    <ConsolePage title={view.path} at="/" user={user}>
      {head(view)}
      <Done text={done} />
      {freezeNotes(view, telling)}
      {poolNotes(view, telling)}
      {rolloutNote(view)}
      {main !== undefined && mainLimitCard(main, view, telling)}
      {view.kind !== 'project' && eatersPart(view, telling)}
      <Card id="limits" title="Limits">
        {limitsPart(view, telling)}
      </Card>
      <Card id="grants" title="Grants">
        {grantsPart(view, telling)}
      </Card>
      <Card id="rejected" title="Rejected jobs">
        <p class="soft">{usageSentence(view.usage, telling)}</p>
        {rejectionsPart(view.usage.rejections, telling)}
      </Card>
      {view.kind !== 'project' && usagePart(view, telling)}
      {childCount > 0 && (
        <Card id="children" title={<>{pageCount(childCount, 'group')} right below</>}>
          {BAR_KEY}
          {groupTable(children.slice(0, CHILDREN_SHOWN), 'Groups right below', telling, {
            sum: view.childrenSum,
          })}
          {childCount > Math.min(children.length, CHILDREN_SHOWN) && (
            <p>
              <a
                href={address('/', {
                  under: subject.startsWith('group/') ? subject.slice('group/'.length) : undefined,
                  view: 'tree',
                })}
              >
                All {pageCount(childCount, 'group')}
              </a>
            </p>
          )}
        </Card>
      )}
      <Card id="history" title="History of edits">
        {historyPart(view.history, subject, telling)}
      </Card>
    </ConsolePage>
  );
}

/** Rows that fit into a page of 100 KB. */
const CHILDREN_SHOWN = 25;

const KIND_LABEL: Readonly<Record<SubjectView['kind'], string>> = {
  instance: 'All groups, projects and personal namespaces together',
  group: 'Group',
  project: 'Project',
  'runner-class': 'Runner class',
};

/** Unlimited amounts cannot grow. */
const canGrow = ({ limits }: SubjectView): boolean => limits.some(({ amount }) => amount !== 'unlimited');

function head(view: SubjectView): Markup {
  const { above, kind, path, subject, may, childCount } = view;
  const link = (text: string, query: Readonly<Record<string, string>>): Markup => (
    <a class="button" href={address('/edit', { subject, ...query })}>
      {text}
    </a>
  );
  return (
    <div class="head">
      <div>
        <Crumbs>
          <li>
            <a href="/">Budgets</a>
          </li>
          {above.map((each) => (
            <li>{subjectLink(each.subject, lastOf(each.path))}</li>
          ))}
        </Crumbs>
        <h1>{path}</h1>
        <p>
          {KIND_LABEL[kind]}
          {(kind === 'group' || kind === 'instance') && (
            <>
              {' · '}
              <a href={address('/statements', { group: subject.replace('group/', '') })}>Statements</a>
            </>
          )}
        </p>
      </div>
      <div class="actions">
        {may.loosen &&
          (kind === 'instance' || childCount > 0) &&
          link('Change all by a share', { kind: 'scale' })}
        {may.loosen && link('New limit', { kind: 'set' })}
        {may.grant && canGrow(view) && link('Grant more', { kind: 'grant' })}
        {may.ask && !may.grant && canGrow(view) && (
          <a class="button main" href={address('/ask', { subject })}>
            Ask for more
          </a>
        )}
        {may.freeze && link('Freeze', { kind: 'freeze' })}
        {may.breakGlass && kind !== 'runner-class' && link('Break glass', { kind: 'breakglass' })}
        {may.rollOut && kind === 'group' && link('Roll out', { kind: 'rollout' })}
      </div>
    </div>
  );
}

const poolNotes = ({ pools, limits }: SubjectView, telling: PageFormat): Markup[] =>
  pools.flatMap((pool) => {
    const limit = limits.find(({ id }) => id === pool.limit);
    if (limit === undefined || limit.amount === 'unlimited') return [];
    return [
      <div class="note">
        <p>
          <strong>{limitWords(limit)} is a pool:</strong>{' '}
          {poolText(pool, limit.amount, (whole) => pageAmount(whole, limit.unit, telling))}. Whoever comes
          first has it.
          {pool.larger.length > 0 && <> Larger than the pool, or unlimited: {pool.larger.join(', ')}.</>}
        </p>
      </div>,
    ];
  });

function rolloutNote({ rollout }: SubjectView): Markup | '' {
  if (rollout === undefined || (rollout.cost ?? rollout.capacity) === undefined) return '';
  const parts = [
    rollout.cost && (
      <>
        cost rules go as far as <strong>{rollout.cost}</strong>
      </>
    ),
    rollout.capacity && (
      <>
        capacity rules go as far as <strong>{rollout.capacity}</strong>
      </>
    ),
  ].filter((part) => part !== undefined);
  return (
    <div class="note warn">
      <p>
        Being rolled out:{' '}
        {parts.map((part, index) => (
          <>
            {index > 0 && ', '}
            {part}
          </>
        ))}
        .
      </p>
    </div>
  );
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
