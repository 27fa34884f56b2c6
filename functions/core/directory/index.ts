/** Public exports of this folder; its README lists its promises. */
export { DirectoryError } from './directory-error.ts';
export { DirectoryStore } from './directory-store.ts';
export type { DirectoryTable } from './directory-table.ts';
export { DirectoryDraft } from './draft.ts';
export { DynamoDirectoryTable } from './dynamo-directory-table.ts';
export { type GroupTree, writeGroups } from './group-tree.ts';
export { directoryHandOut, directoryListedAtMs } from './hand-out.ts';
export { handOutKnown } from './hand-out-known.ts';
export { NOT_BEGUN } from './manifest.ts';
export { type DirectorySyncReport, syncDirectory } from './sync.ts';
export { readWholeDirectory, type WholeDirectory } from './whole-directory.ts';
