/** The views of one person, or of everybody, and what changes them. Pure. */

/** Whose views they are: a user's, by GitLab's id. */
export type ViewKey = number | 'everybody';

export interface SavedView {
  readonly name: string;
  /** What the list was asked, as in its address: `kind=project&trouble=used-up`; empty: all of it. */
  readonly query: string;
}

export interface ViewList {
  /** By name. */
  readonly views: readonly SavedView[];
  /** The name of the one that the list opens with. Absent: with all. */
  readonly first?: string;
}

export const VIEWS_MAX = 20;
export const VIEW_NAME_CHARACTERS_MAX = 60;

/** `keep`: one of the same name is replaced. `first`: the list opens with it; `''`: with all again. */
export type ViewChange =
  | { readonly keep: SavedView }
  | { readonly drop: string }
  | { readonly first: string };

/** `full`: there are as many as there may be. */
export function keepView({ views, first }: ViewList, change: ViewChange): ViewList | 'full' {
  if ('first' in change) {
    const isThere = views.some(({ name }) => name === change.first);
    return isThere ? { views, first: change.first } : { views };
  }
  const dropped = 'drop' in change ? change.drop : change.keep.name;
  const others = views.filter(({ name }) => name !== dropped);
  if ('drop' in change) return { views: others, ...(first !== undefined && first !== dropped && { first }) };
  if (others.length >= VIEWS_MAX) return 'full';
  const kept = [...others, change.keep].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { views: kept, ...(first !== undefined && { first }) };
}
