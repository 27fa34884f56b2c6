/** What others may use of this folder; its README says what it promises. */
export { type ExportResult, exportImages } from './export-images.ts';
export { s3Objects } from './s3-objects.ts';
