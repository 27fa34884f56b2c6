/** What others may use of this folder; its README says what it promises. */
export { dynamoRestore } from './dynamo-restore.ts';
export { type ExportResult, exportImages } from './export-images.ts';
export type { ExportedKind } from './exported-image.ts';
export { type RestoreReport, restoreLines } from './restore-lines.ts';
export { s3Objects } from './s3-objects.ts';
