import type { ApplyOutcome, ChangeRow } from '../../../core/limits/index.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { changeTable } from '../parts/change-table.tsx';
import { hiddenFields, type Values } from '../parts/form-field.tsx';
import { Card, PostForm } from '../parts/layout.tsx';
import type { Markup } from '../parts/markup.ts';
import { distance, instant, type PageFormat } from '../parts/page-format.tsx';
import { withoutStep } from './edit-pages.tsx';

type Stale = Extract<ApplyOutcome, { outcome: 'stale' }>;

interface Again {
  /** Submitted values; absent: they cannot be applied again. */
  readonly values?: Values;
  readonly back: string;
  /** Another remedy. */
  readonly hint?: string;
}

/** Page for a conflicting edit, with both versions. */
export const stalePage = (user: User, stale: Stale, again: Again, telling: PageFormat): Markup => {
  const { live, mine, theirs } = stale;
  const values = again.values && { ...withoutStep(again.values), base: live?.pointer.set ?? '' };
  return (
    <ConsolePage title="Changed meanwhile" at={values === undefined ? '/import' : '/'} user={user}>
      <div class="head">
        <div>
          <h1>Changed by another user meanwhile</h1>
          <p>
            Yours was not saved.
            {live !== undefined && (
              <>
                {' '}
                {seesAll(user) ? <>{live.change.actor} saved another version</> : 'Another version was saved'}{' '}
                {distance(live.change.atMs, telling.nowMs)}
                {seesAll(user) && <>: “{live.change.why}”</>} (edit {live.pointer.edit},{' '}
                {instant(live.change.atMs, telling)}).
              </>
            )}
          </p>
        </div>
      </div>
      <div class="compare">
        <Card id="mine" title="Yours, not saved">
          {rowsOr(
            mine,
            'The version you began with is gone, so your change cannot be compared with it.',
            telling,
          )}
        </Card>
        <Card id="theirs" title="Saved since you began">
          {rowsOr(theirs, 'The changes of others are no longer known here. Look at the history.', telling)}
        </Card>
      </div>
      <PostForm user={user} class="card" action="/edit">
        {values !== undefined && hiddenFields(values)}
        {again.hint !== undefined && <p>{again.hint}</p>}
        <div class="actions">
          {values !== undefined && (
            <button class="main" name="step" value="preview">
              See mine on top of theirs
            </button>
          )}
          <a class="button" href={again.back}>
            Keep theirs
          </a>
        </div>
      </PostForm>
    </ConsolePage>
  );
};

/** The last edit may concern a hidden group. */
const seesAll = ({ roles }: User): boolean => roles.admin || roles.finance;

const rowsOr = (rows: readonly ChangeRow[] | undefined, sentence: string, telling: PageFormat): Markup =>
  rows === undefined ? (
    <p class="soft">{sentence}</p>
  ) : rows.length === 0 ? (
    <p class="soft">Nothing of the same groups.</p>
  ) : (
    changeTable(rows, 'Differences', telling)
  );
