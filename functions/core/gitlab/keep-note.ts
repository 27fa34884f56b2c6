import { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import { changed, type RestCallDeps, readOne, readWhole, restOnce } from './rest-call.ts';

/** 5,000 notes. Beyond them ours might be missed, and a second one made. */
const PAGES_MAX = 50;
/** Each round but the last changes something; two concurrent runs need three. */
const ROUNDS_MAX = 5;
const CHANGE_TIMEOUT_MS = 5_000;

const USER = z.object({ id: z.int() });
const NOTE = z.object({ id: z.int(), body: z.string(), author: USER });

/**
 * Keeps one note of the token's user in a merge request, found by a hidden marker. It reads again after every change: of two notes
 * by two programs the older one stays, with the highest version's text. @throws {GitLabError} The note may be outdated.
 */
export async function keepNote(
  text: string,
  note: {
    readonly projectId: number | string;
    readonly mergeRequestIid: number | string;
    /** Subject in a hidden marker: `check, pipeline`. A merge request has one note per subject. */
    readonly about: string;
    readonly version: number;
  },
  deps: RestCallDeps,
): Promise<void> {
  const [project, merge] = [note.projectId, note.mergeRequestIid].map(encodeURIComponent);
  const path = `/projects/${project}/merge_requests/${merge}/notes`;
  const marker = `<!-- tollgate ${note.about} `;
  const mine = `${marker}${note.version} -->\n${text.trimEnd()}`;
  const user = await readOne('/user', USER, deps);
  if (user === undefined) throw new GitLabError('gitlab_unreadable', 'GET /user: the answer names no user');
  const change = (method: 'PUT' | 'DELETE', of: string, body?: object) =>
    restOnce(method, of, body, CHANGE_TIMEOUT_MS, deps);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const [oldest, ...spare] = await listOwnNotes(user.id, marker, path, deps);
    if (oldest === undefined) {
      await changed('POST', path, { body: mine }, z.unknown(), deps);
      continue;
    }
    const parseVersion = (body: string): number => Number.parseInt(body.slice(marker.length), 10);
    const bodies = [mine, oldest.body, ...spare.map(({ body }) => body)];
    const newest = bodies.reduce((best, each) => (parseVersion(each) > parseVersion(best) ? each : best));
    if (spare.length === 0 && oldest.body === newest) return;
    // A note that another program deleted meanwhile answers 404, and the next round sees what is there.
    if (oldest.body !== newest) await change('PUT', `${path}/${oldest.id}`, { body: newest });
    for (const { id } of spare) await change('DELETE', `${path}/${id}`);
  }
}

/** Lists own notes, oldest first. Markers in other users' notes are ignored. */
async function listOwnNotes(userId: number, marker: string, path: string, deps: RestCallDeps) {
  const fields = { sort: 'asc', order_by: 'created_at' };
  const notes = await readWhole(path, fields, NOTE, { ...deps, pagesMax: PAGES_MAX });
  if (notes === undefined)
    throw new GitLabError('gitlab_unreadable', `GET ${path}: more than ${PAGES_MAX} pages of notes`);
  return notes
    .filter(({ author, body }) => author.id === userId && body.startsWith(marker))
    .toSorted((a, b) => a.id - b.id);
}
