/** Lists of views in the table: one item each, replaced whole. */
import {
  answered,
  atRev,
  deleteItem,
  getItem,
  type InstanceTable,
  type Item,
  itemAt,
  ledgerKeys,
  putItem,
  TimeLimit,
  unavailable,
} from '../store/index.ts';
import { keepView, type SavedView, type ViewChange, type ViewKey, type ViewList } from './saved-view.ts';

/** Every method throws `ledger_unavailable` where the table gives no answer. */
export interface ViewStore {
  /** Empty: nobody kept one. */
  read(of: ViewKey): Promise<ViewList>;
  /** `full`: there are as many as there may be. `contended`: others write the list all the time. */
  change(of: ViewKey, change: ViewChange): Promise<'written' | 'full' | 'contended'>;
  /** Takes all views of a user away, or only counts them. */
  forget(userId: number, options: { readonly dryRun: boolean }): Promise<number>;
}

const TIMEOUT_MS = 3_000;
/** Two tabs of one person, or two people of finance. */
const TRIES_MAX = 5;
const VIEWS = 'vi';
const FIRST = 'fi';
const REV = 'rv';

export function dynamoViewStore({ table, instance }: InstanceTable): ViewStore {
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  const limit = (): TimeLimit => new TimeLimit(TIMEOUT_MS);
  const item = (of: ViewKey): Promise<Item | undefined> =>
    answered('read saved views', failure, () => getItem(table, keys.savedViews(of), limit()));
  return {
    read: async (of) => listOf(await item(of)),
    async change(of, change) {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const known = await item(of);
        const list = keepView(listOf(known), change);
        if (list === 'full') return list;
        const rev = Number(known?.[REV]?.N ?? 0);
        const attributes = {
          [VIEWS]: { S: JSON.stringify(list.views) },
          ...(list.first !== undefined && { [FIRST]: { S: list.first } }),
          [REV]: { N: String(rev + 1) },
        };
        const { outcome } = await answered('write saved views', failure, () =>
          putItem(table, itemAt(keys.savedViews(of), attributes), limit(), atRev(REV, rev)),
        );
        if (outcome === 'written') return outcome;
      }
      return 'contended';
    },
    async forget(userId, { dryRun }) {
      const { views } = listOf(await item(userId));
      if (!dryRun)
        await answered('take saved views away', failure, () =>
          deleteItem(table, keys.savedViews(userId), limit()),
        );
      return views.length;
    },
  };
}

function listOf(item: Item | undefined): ViewList {
  const views = viewsIn(item?.[VIEWS]?.S ?? '[]');
  const first = item?.[FIRST]?.S;
  return { views, ...(first !== undefined && { first }) };
}

/** What is not what was written is left out: a view is a comfort, and nobody waits for it. */
function viewsIn(text: string): readonly SavedView[] {
  try {
    const views: unknown = JSON.parse(text);
    return Array.isArray(views) ? views.filter(isView) : [];
  } catch {
    return [];
  }
}

const isView = (value: unknown): value is SavedView => {
  const { name, query } = (value ?? {}) as Partial<SavedView>;
  return typeof name === 'string' && typeof query === 'string';
};
