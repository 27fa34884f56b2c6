import { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import { type RestCallDeps, readOne, readWhole, restOnce } from './rest-call.ts';

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
  const change = (method: 'POST' | 'PUT' | 'DELETE', of: string, body?: object) =>
    restOnce(method, of, body, CHANGE_TIMEOUT_MS, deps);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const [kept, ...spare] = await notesOf(user.id, marker, path, deps);
    if (kept === undefined) {
      const { status } = await change('POST', path, { body: mine });
      if (status !== 201)
        throw new GitLabError('gitlab_unreadable', `POST ${path}: GitLab answered ${status}`, { status });
      continue;
    }
    const versionOf = (body: string): number => Number.parseInt(body.slice(marker.length), 10);
    const bodies = [mine, kept.body, ...spare.map(({ body }) => body)];
    const newest = bodies.reduce((best, each) => (versionOf(each) > versionOf(best) ? each : best));
    if (spare.length === 0 && kept.body === newest) return;
    // A note that another program deleted meanwhile answers 404, and the next round sees what is there.
    if (kept.body !== newest) await change('PUT', `${path}/${kept.id}`, { body: newest });
    for (const { id } of spare) await change('DELETE', `${path}/${id}`);
  }
}

/** Lists own notes, oldest first. Markers in other users' notes are ignored. */
async function notesOf(userId: number, marker: string, path: string, deps: RestCallDeps) {
  const asked = { sort: 'asc', order_by: 'created_at' };
  const notes = await readWhole(path, asked, NOTE, { ...deps, pagesMax: PAGES_MAX });
  if (notes === undefined)
    throw new GitLabError('gitlab_unreadable', `GET ${path}: more than ${PAGES_MAX} pages of notes`);
  return notes
    .filter(({ author, body }) => author.id === userId && body.startsWith(marker))
    .toSorted((a, b) => a.id - b.id);
}
