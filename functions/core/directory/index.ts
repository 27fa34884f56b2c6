/** Public exports of this folder; its README lists its promises. */

export { NOT_BEGUN } from './chunks.ts';
export { readWholeDirectory, type WholeDirectory } from './directory-part.ts';
export { DirectoryStore } from './directory-store.ts';
export type { DirectoryTable } from './directory-table.ts';
export { DirectoryError } from './directory-table.ts';
export { DirectoryDraft, type GroupTree, writeGroups } from './draft.ts';
export { DynamoDirectoryTable } from './dynamo-directory-table.ts';
export { directoryHandOut, directoryListedAtMs, handOutKnown } from './hand-out.ts';
export { type DirectorySyncReport, syncDirectory } from './sync.ts';
