import { codedError } from '../../../policies/coded-error.ts';

export class DirectoryError extends codedError('DirectoryError', {
  /** The table gave no answer we can use; a write may or may not have happened. */
  directory_unavailable: true,
  /** The stored data is damaged. */
  directory_unreadable: false,
}) {}
