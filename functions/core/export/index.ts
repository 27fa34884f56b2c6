/** Public exports of this folder; its README lists its promises. */
export { type ExportResult, exportImages } from './export-images.ts';
export { s3Objects } from './s3-objects.ts';
