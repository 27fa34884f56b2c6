import type { Directory } from '../policies/place/directory.ts';
import { place } from '../policies/place/placement.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';

/** Ids of the groups a job is in, root first, as far as the directory knows them. */
export const groupsAbove = (
  request: AdmissionRequest,
  directory: Directory | undefined,
): readonly number[] =>
  directory === undefined ? [] : place(request, directory).ancestors.map(({ id }) => id);
