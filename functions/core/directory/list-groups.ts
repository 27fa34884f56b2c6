import type { GitLabDirectory } from '../gitlab/index.ts';
import type { GroupChunk, StoredGroupRow } from './chunks.ts';
import type { DirectoryDraft } from './draft.ts';
import { type GroupTree, rowOf } from './group-tree.ts';
import type { SyncProgress } from './manifest.ts';
import type { RunBudget } from './run-budget.ts';
import { answeredShort } from './short-answer.ts';

export interface GroupListing {
  readonly outcome:
    | 'listed'
    /** The next run goes on. */
    | 'going'
    /** GitLab listed so few that it is believed what is there, but not what is not. */
    | 'refused';
  readonly pass: SyncProgress['groupsPass'];
  /** Groups in this listing; 0 while it is going. */
  readonly listed: number;
  /** Known before and not in this listing. */
  readonly missing: number;
  /** Entries GitLab sent that could not be read. */
  readonly unreadable: number;
}

interface ListGroupsDeps {
  readonly gitlab: Pick<GitLabDirectory, 'groups'>;
  readonly draft: DirectoryDraft;
  readonly budget: RunBudget;
  /** Believes a short answer. */
  readonly force: boolean;
}

/** A listing of a million groups takes fewer runs: one that has not ended by then goes round in circles. */
const RUNS_MAX = 60;
/** The part of a run that groups may take: however many there are, projects get their turn. */
const SHARE = 0.7;
const LISTING = 'listing';

/**
 * Lists all groups, over several runs if need be, and puts them into `groups`. A group that is missing once is kept: pages
 * by number skip one where another was deleted meanwhile. It goes when it is missing twice in a row.
 */
export async function listGroups(groups: GroupTree, deps: ListGroupsDeps): Promise<GroupListing> {
  const { gitlab, draft, budget } = deps;
  const before = draft.progress.groupsPass;
  const rows: StoredGroupRow[] = [];
  let unreadable = 0;
  let page = before?.page;
  for (;;) {
    const asked = page;
    const got = await budget.ask(() => gitlab.groups(asked === undefined ? {} : { page: asked }), SHARE);
    if (got === undefined) {
      return { outcome: 'going', pass: await setAside(page, rows, draft), listed: 0, missing: 0, unreadable };
    }
    rows.push(...got.answer.groups.map(rowOf));
    unreadable += got.answer.unreadable ?? 0;
    page = got.answer.next;
    if (page === undefined) break;
  }
  const earlier = await draft.readAside<GroupChunk>(before?.listed ?? []);
  draft.dropAside();
  const listed = new Map(
    [...earlier.flatMap((chunk) => chunk?.groups ?? []), ...rows].map((row) => [row[0], row]),
  );
  return { ...believe(listed, groups, deps.force), pass: undefined, listed: listed.size, unreadable };
}

async function setAside(
  page: string | undefined,
  rows: readonly StoredGroupRow[],
  draft: DirectoryDraft,
): Promise<SyncProgress['groupsPass']> {
  const before = draft.progress.groupsPass;
  if (page === undefined || rows.length === 0) return before;
  const runs = before?.listed.length ?? 0;
  if (runs >= RUNS_MAX) {
    draft.dropAside();
    return undefined;
  }
  const name = `${LISTING}/${runs}`;
  await draft.writeAside(name, { groups: rows } satisfies GroupChunk);
  return { page, listed: [...(before?.listed ?? []), name] };
}

function believe(
  listed: ReadonlyMap<number, StoredGroupRow>,
  groups: GroupTree,
  force: boolean,
): Pick<GroupListing, 'outcome' | 'missing'> {
  const missing = [...groups.values()].filter(([id]) => !listed.has(id));
  // Those that were missing before and were believed then count no second time.
  const newly = missing.filter(([, , , , missed]) => missed === 0).length;
  const refused = !force && (listed.size === 0 || answeredShort(newly, groups.size));
  for (const row of listed.values()) groups.set(row[0], row);
  if (refused) return { outcome: 'refused', missing: missing.length };
  for (const [id, parentId, path, visibility, missed] of missing) {
    if (missed > 0 || force) groups.delete(id);
    else groups.set(id, [id, parentId, path, visibility, 1]);
  }
  return { outcome: 'listed', missing: missing.length };
}
